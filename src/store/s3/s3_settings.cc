#include "store/s3/s3_settings.h"

#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "core/base/environment_names.h"
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

Status read_endpoint(const Setting& setting, S3Settings& settings) {
  settings.endpoint = setting.value;
  if (settings.endpoint.empty()) {
    const std::string_view china = settings.region.starts_with("cn-") ? ".cn" : "";
    settings.endpoint = fmt::format("https://s3.{}.amazonaws.com{}", settings.region, china);
  }
  while (settings.endpoint.ends_with('/')) settings.endpoint.pop_back();
  settings.is_encrypted = settings.endpoint.starts_with("https://");
  const std::size_t scheme = settings.endpoint.find("://");
  const bool is_url = settings.is_encrypted || settings.endpoint.starts_with("http://");
  const std::string_view host = is_url ? std::string_view(settings.endpoint).substr(scheme + 3) : std::string_view();
  if (host.empty() || host.find_first_of("/?#@ ") != std::string_view::npos) {
    return bad(setting, "https://HOST or http://HOST:PORT, without a user or a path");
  }
  return {};
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
  const Setting region = setting({variable::kAwsRegion, variable::kAwsDefaultRegion}, "region");
  settings.region = region.value.empty() ? "us-east-1" : region.value;
  if (settings.region.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") !=
      std::string::npos) {
    return bad(region, "a region such as eu-central-1");
  }
  const Setting endpoint = setting({variable::kAwsS3Endpoint, variable::kAwsEndpoint}, "endpoint_url");
  TRAINWARDEN_RETURN_IF_ERROR(read_endpoint(endpoint, settings));
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

}  // namespace trainwarden::storage
