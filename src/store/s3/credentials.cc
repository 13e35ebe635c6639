#include "store/s3/credentials.h"

#include <filesystem>
#include <mutex>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/bucket_variables.h"
#include "core/base/rfc3339.h"
#include "core/base/text.h"
#include "core/base/text_file.h"
#include "store/s3/aws_profile.h"
#include "store/s3/credential_service.h"
#include "store/s3/web_identity.h"

namespace trainwarden::storage {
namespace {

constexpr std::int64_t kRenewedBeforeNs = 300'000'000'000;  // five minutes before they expire

bool is_on(const Environment& environment, const char* name) {
  return parse_bool(variable_text(environment, name)).value_or(false);
}

AwsCredentials of_variables(const Environment& environment) {
  return {.key_id = variable_text(environment, variable::kAwsKeyId),
          .secret = variable_text(environment, variable::kAwsSecret),
          .session_token = variable_text(environment, variable::kAwsSessionToken)};
}

AwsCredentials of_profile(const AwsSection& profile) {
  const auto value = [&](const char* key) {
    const auto found = profile.find(key);
    return found == profile.end() ? std::string() : found->second;
  };
  return {.key_id = value("aws_access_key_id"),
          .secret = value("aws_secret_access_key"),
          .session_token = value("aws_session_token")};
}

bool is_whole(const AwsCredentials& credentials) {
  return !credentials.key_id.empty() && !credentials.secret.empty();
}

}  // namespace

Result<AwsCredentials> parse_credentials(std::string_view json) {
  const auto document = nlohmann::json::parse(json, nullptr, false);
  const auto text = [&](const char* key) {
    const bool is_text = document.is_object() && document.contains(key) && document[key].is_string();
    return is_text ? document[key].get<std::string>() : std::string();
  };
  AwsCredentials credentials{
      .key_id = text("AccessKeyId"), .secret = text("SecretAccessKey"), .session_token = text("Token")};
  if (!is_whole(credentials)) {
    return Status(Code::kDataLoss,
                  "expected AccessKeyId and SecretAccessKey in the answer of the service for credentials");
  }
  credentials.expires_unix_ns = parse_rfc3339(text("Expiration")).value_or(0);
  return credentials;
}

Result<AwsCredentials> CredentialChain::get() {
  const std::lock_guard guard(mutex_);
  const bool is_fresh =
      found_ && (found_->expires_unix_ns == 0 || clock_.unix_ns() + kRenewedBeforeNs < found_->expires_unix_ns);
  if (is_fresh) return *found_;
  auto found = find();
  // What is left of the old ones is used while a service does not answer.
  const bool is_valid = found_ && clock_.unix_ns() < found_->expires_unix_ns;
  if (!found.ok() && is_valid) return *found_;
  if (found.ok()) found_ = *found;
  return found;
}

void CredentialChain::forget() {
  const std::lock_guard guard(mutex_);
  found_.reset();
}

Result<AwsCredentials> CredentialChain::find() const {
  if (is_on(environment_, variable::kUnsigned)) return AwsCredentials{};
  if (AwsCredentials found = of_variables(environment_); is_whole(found)) return found;
  const AwsSection profile = read_aws_profile(environment_);
  // Who has set up a token wants no other credentials where it is refused.
  if (const auto identity = find_web_identity(environment_, profile)) {
    return assume_role(*identity, environment_, clock_.unix_ns());
  }
  if (AwsCredentials found = of_profile(profile); is_whole(found)) return found;
  const CredentialService service = credential_service(environment_);
  if (service.kind != CredentialService::Kind::kNone) {
    const auto answer = ask_for_credentials(service);
    if (answer.ok()) return parse_credentials(*answer);
    if (service.kind == CredentialService::Kind::kContainer) return answer.status();
  }
  if (!missing_.empty()) return Status(Code::kPermissionDenied, missing_);
  return Status(
      Code::kPermissionDenied,
      fmt::format("no credentials for S3: expected {} and {}, or the profile \"{}\" in ~/.aws/credentials, or "
                  "{} and {}, or a role of this machine; {}=1 reads what everybody may read",
                  variable::kAwsKeyId, variable::kAwsSecret, printable(aws_profile_name(environment_)),
                  variable::kAwsWebIdentityTokenFile, variable::kAwsRoleArn, variable::kUnsigned));
}

}  // namespace trainwarden::storage
