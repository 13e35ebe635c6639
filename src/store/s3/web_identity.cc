#include "store/s3/web_identity.h"

#include <chrono>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "core/base/bucket_variables.h"
#include "core/base/rfc3339.h"
#include "core/base/text.h"
#include "core/base/text_file.h"
#include "store/s3/http_connection.h"
#include "store/s3/s3_settings.h"

namespace trainwarden::storage {
namespace {

constexpr std::size_t kMaxIdentityBytes = 20'000;  // of a token; STS takes no more
constexpr std::size_t kMaxStsBytes = 64 * 1024;
constexpr std::size_t kMaxShownBytes = 200;
constexpr std::int64_t kNsInSecond = 1'000'000'000;

std::string setting_text(const Environment& environment, const char* variable, const AwsSection& profile,
                         const char* key) {
  const std::string set = variable_text(environment, variable);
  const auto found = profile.find(key);
  return !set.empty() || found == profile.end() ? set : found->second;
}

Result<std::string> read_token(const WebIdentity& identity) {
  const auto text = read_text_file(identity.token_file);
  const std::string token(trim(text.value_or("")));
  if (!token.empty() && token.size() <= kMaxIdentityBytes) return token;
  return Status(Code::kPermissionDenied,
                fmt::format("{} names {}: expected a file with a token of up to {} bytes, found {}",
                            variable::kAwsWebIdentityTokenFile, printable(identity.token_file), kMaxIdentityBytes,
                            !text           ? "none that can be read"
                            : token.empty() ? "an empty one"
                                            : "a larger one"));
}

// What passes is worth another attempt; what is said of the token or the role is not.
bool is_passing(int status, std::string_view code) {
  return status >= 500 || status == 429 || code == "Throttling" || code == "IDPCommunicationError";
}

Status refusal(std::string_view endpoint, int status, std::string_view xml) {
  pugi::xml_document document;
  document.load_buffer(xml.data(), xml.size(), pugi::parse_default);
  const pugi::xml_node error = document.child("ErrorResponse").child("Error");
  const std::string code = error.child_value("Code"), message = error.child_value("Message");
  return Status(is_passing(status, code) ? Code::kUnavailable : Code::kPermissionDenied,
                fmt::format("{} gives no credentials for the role of {}: status {}{}{}{}{}", endpoint,
                            variable::kAwsRoleArn, status, code.empty() ? "" : " ", printable(code),
                            message.empty() ? "" : ": ", printable(message.substr(0, kMaxShownBytes))));
}

}  // namespace

std::optional<WebIdentity> find_web_identity(const Environment& environment, const AwsSection& profile) {
  WebIdentity identity{
      .token_file = setting_text(environment, variable::kAwsWebIdentityTokenFile, profile, "web_identity_token_file"),
      .role = setting_text(environment, variable::kAwsRoleArn, profile, "role_arn"),
      .session = setting_text(environment, variable::kAwsRoleSessionName, profile, "role_session_name")};
  if (identity.token_file.empty()) return std::nullopt;
  return identity;
}

Result<AwsCredentials> assume_role(const WebIdentity& identity, const Environment& environment, std::int64_t unix_ns) {
  if (identity.role.empty()) {
    return Status(Code::kPermissionDenied, fmt::format("{} is set, and no role: set {}, or role_arn of the AWS profile",
                                                       variable::kAwsWebIdentityTokenFile, variable::kAwsRoleArn));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string token, read_token(identity));
  TRAINWARDEN_ASSIGN_OR_RETURN(const StsSettings settings, read_sts_settings(environment));
  const std::string body =
      encode_query({{"Action", "AssumeRoleWithWebIdentity"},
                    {"Version", "2011-06-15"},
                    {"RoleArn", identity.role},
                    {"RoleSessionName", identity.session.empty() ? fmt::format("trainwarden-{}", unix_ns / kNsInSecond)
                                                                 : identity.session},
                    {"WebIdentityToken", token}});
  exchange::TransferLimits limits;
  limits.connect_timeout = std::chrono::milliseconds(5'000);
  limits.ca_file = settings.ca_file;
  limits.any_address = true;  // the user's own setting
  std::string text;
  ClientRequest request{.method = "POST",
                        .url = settings.endpoint + "/",
                        .headers = {{"content-type", "application/x-www-form-urlencoded"}},
                        .body = as_bytes(body)};
  request.take = take_up_to(text, kMaxStsBytes);
  const auto answer = create_http_connection(limits)->exchange(request, settings.endpoint, {});
  if (!answer.ok()) return answer.status();
  if (answer->status != 200) return refusal(settings.endpoint, answer->status, text);
  auto credentials = parse_assumed_role(text);
  if (!credentials.ok()) return credentials.status().with_context(settings.endpoint);
  return credentials;
}

Result<AwsCredentials> parse_assumed_role(std::string_view xml) {
  pugi::xml_document document;
  document.load_buffer(xml.data(), xml.size(), pugi::parse_default);
  const pugi::xml_node found =
      document.child("AssumeRoleWithWebIdentityResponse").child("AssumeRoleWithWebIdentityResult").child("Credentials");
  AwsCredentials credentials{.key_id = found.child_value("AccessKeyId"),
                             .secret = found.child_value("SecretAccessKey"),
                             .session_token = found.child_value("SessionToken"),
                             .expires_unix_ns = parse_rfc3339(found.child_value("Expiration")).value_or(0)};
  // Without their end nobody would renew them.
  if (credentials.key_id.empty() || credentials.secret.empty() || credentials.session_token.empty() ||
      credentials.expires_unix_ns <= 0) {
    return Status(Code::kDataLoss,
                  "expected AccessKeyId, SecretAccessKey, SessionToken and Expiration in the answer of STS");
  }
  return credentials;
}

}  // namespace trainwarden::storage
