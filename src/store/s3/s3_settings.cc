#include "store/s3/s3_settings.h"

#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "core/base/bucket_variables.h"
#include "core/base/text.h"
#include "store/s3/aws_profile.h"

namespace trainwarden::storage {
namespace {

constexpr int kMaxAttempts = 100;

// A setting with the name that users know it by.
struct Setting {
  std::string value;
  std::string name;
};

// The first of the variables that is set, else the profile's.
Setting setting_of(const Environment& environment, const AwsSection& profile,
                   std::initializer_list<const char*> variables, const char* key) {
  for (const char* variable : variables) {
    const char* const value = environment(variable);
    if (value != nullptr && *value != '\0') return {value, variable};
  }
  const auto found = profile.find(key);
  return found == profile.end() ? Setting{"", key} : Setting{found->second, fmt::format("{} of the AWS profile", key)};
}

Status bad(const Setting& setting, std::string_view expected) {
  return Status(Code::kInvalidArgument,
                fmt::format("{}: expected {}, found \"{}\"", setting.name, expected, printable(setting.value)));
}

Result<std::string> read_region(const Setting& setting) {
  std::string region = setting.value.empty() ? "us-east-1" : setting.value;
  if (region.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == std::string::npos)
    return region;
  return bad(setting, "a region such as eu-central-1");
}

// `service` of Amazon's in the region where nothing is set.
Result<std::string> read_endpoint(const Setting& setting, std::string_view service, const std::string& region) {
  std::string endpoint = setting.value;
  if (endpoint.empty()) {
    endpoint = fmt::format("https://{}.{}.amazonaws.com{}", service, region, region.starts_with("cn-") ? ".cn" : "");
  }
  while (endpoint.ends_with('/')) endpoint.pop_back();
  const std::size_t scheme = endpoint.find("://");
  const bool is_url = endpoint.starts_with("https://") || endpoint.starts_with("http://");
  const std::string_view host = is_url ? std::string_view(endpoint).substr(scheme + 3) : std::string_view();
  if (host.empty() || host.find_first_of("/?#@ ") != std::string_view::npos) {
    return bad(setting, "https://HOST or http://HOST:PORT, without a user or a path");
  }
  return endpoint;
}

Status read_style(const Setting& setting, bool is_of_amazon, const std::string& bucket, S3Settings& settings) {
  settings.path_style = !is_of_amazon || bucket.find('.') != std::string::npos;
  if (setting.value.empty() || setting.value == "auto") return {};
  if (setting.value != "path" && setting.value != "virtual") return bad(setting, "path, virtual or auto");
  settings.path_style = setting.value == "path";
  return {};
}

Status read_speed(const Setting& setting, S3Settings& settings) {
  if (setting.value.empty()) return {};
  const auto speed = parse_speed(setting.value);
  if (!speed) return bad(setting, "a speed such as 10MB/s");
  settings.max_bytes_per_second = *speed;
  return {};
}

}  // namespace

std::optional<std::uint64_t> parse_speed(std::string_view text) {
  text = trim(text);
  if (text.ends_with("/s")) text.remove_suffix(2);
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string unit = lower(trim(text.substr(digits)));
  const auto number = parse_double(text.substr(0, digits));
  const double scale = unit == "gb"                  ? 0x1p30
                       : unit == "mb"                ? 0x1p20
                       : unit == "kb"                ? 0x1p10
                       : unit == "b" || unit.empty() ? 1
                                                     : 0;
  if (!number || scale == 0 || *number * scale < 1 || *number * scale > 0x1p50) return std::nullopt;
  return static_cast<std::uint64_t>(*number * scale);
}

Result<S3Settings> read_s3_settings(const Environment& environment, const std::string& bucket) {
  const AwsSection profile = read_aws_profile(environment);
  const auto setting = [&](std::initializer_list<const char*> variables, const char* key) {
    return setting_of(environment, profile, variables, key);
  };
  S3Settings settings;
  TRAINWARDEN_ASSIGN_OR_RETURN(settings.region,
                               read_region(setting({variable::kAwsRegion, variable::kAwsDefaultRegion}, "region")));
  const Setting endpoint = setting({variable::kAwsS3Endpoint, variable::kAwsEndpoint}, "endpoint_url");
  TRAINWARDEN_ASSIGN_OR_RETURN(settings.endpoint, read_endpoint(endpoint, "s3", settings.region));
  settings.is_encrypted = settings.endpoint.starts_with("https://");
  TRAINWARDEN_RETURN_IF_ERROR(read_style(setting({}, "s3.addressing_style"), endpoint.value.empty(), bucket, settings));
  settings.ca_file = setting({variable::kAwsCaBundle}, "ca_bundle").value;
  TRAINWARDEN_RETURN_IF_ERROR(read_speed(setting({}, "s3.max_bandwidth"), settings));
  const Setting attempts = setting({variable::kAwsMaxAttempts}, "max_attempts");
  if (attempts.value.empty()) return settings;
  const auto number = parse_int(attempts.value);
  if (!number || *number < 1 || *number > kMaxAttempts) return bad(attempts, fmt::format("1 to {}", kMaxAttempts));
  settings.max_attempts = static_cast<int>(*number);
  return settings;
}

Result<StsSettings> read_sts_settings(const Environment& environment) {
  const AwsSection profile = read_aws_profile(environment);
  TRAINWARDEN_ASSIGN_OR_RETURN(
      const std::string region,
      read_region(setting_of(environment, profile, {variable::kAwsRegion, variable::kAwsDefaultRegion}, "region")));
  StsSettings settings;
  TRAINWARDEN_ASSIGN_OR_RETURN(
      settings.endpoint, read_endpoint(setting_of(environment, profile,
                                                  {variable::kAwsStsEndpoint, variable::kAwsEndpoint}, "endpoint_url"),
                                       "sts", region));
  settings.ca_file = setting_of(environment, profile, {variable::kAwsCaBundle}, "ca_bundle").value;
  return settings;
}

}  // namespace trainwarden::storage
