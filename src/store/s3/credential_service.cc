#include "store/s3/credential_service.h"

#include <chrono>

#include <fmt/format.h>

#include "core/base/bucket_variables.h"
#include "core/base/text.h"
#include "core/base/text_file.h"
#include "store/s3/http_connection.h"

namespace trainwarden::storage {
namespace {

constexpr const char* kContainerHost = "http://169.254.170.2";
constexpr const char* kInstanceRoot = "http://169.254.169.254";
constexpr const char* kRolePath = "/latest/meta-data/iam/security-credentials/";
constexpr std::size_t kMaxAnswerBytes = 64 * 1024;

bool is_allowed(std::string_view url) {
  for (const std::string_view root :
       {std::string_view("https://"), std::string_view("http://127.0.0.1"), std::string_view("http://localhost"),
        std::string_view("http://[::1]"), std::string_view("http://169.254.170.2"),
        std::string_view("http://169.254.170.23"), std::string_view("http://[fd00:ec2::23]")}) {
    if (!url.starts_with(root)) continue;
    if (root == "https://") return true;
    const std::string_view rest = url.substr(root.size());
    if (rest.empty() || rest.front() == ':' || rest.front() == '/') return true;
  }
  return false;
}

// Near, so it answers at once or is not there.
std::unique_ptr<HttpConnection> connection() {
  exchange::TransferLimits limits;
  limits.connect_timeout = std::chrono::milliseconds(1000);
  limits.timeout = std::chrono::milliseconds(5000);
  limits.any_address = true;
  limits.use_proxy = false;
  return create_http_connection(limits);
}

Result<std::string> ask(HttpConnection& http, const char* method, const std::string& url, HeaderMap headers) {
  ClientRequest request{.method = method, .url = url, .headers = std::move(headers)};
  std::string body;
  request.take = take_up_to(body, kMaxAnswerBytes);
  TRAINWARDEN_ASSIGN_OR_RETURN(const ClientAnswer answer, http.exchange(request, "the service for credentials", {}));
  if (answer.status == 200) return body;
  return Status(Code::kUnavailable, fmt::format("the service for credentials answers with status {}", answer.status));
}

Result<std::string> ask_container(const CredentialService& service) {
  if (!is_allowed(service.url)) {
    return Status(Code::kPermissionDenied,
                  fmt::format("{}: expected https, or http to this machine, found another address",
                              variable::kAwsContainerFullUri));
  }
  HeaderMap headers;
  const std::string token =
      service.token_file.empty() ? service.token : std::string(trim(read_text_file(service.token_file).value_or("")));
  if (!token.empty()) headers["authorization"] = token;
  const auto http = connection();
  return ask(*http, "GET", service.url, std::move(headers));
}

// With a token, which only a request from inside can get: version 2 of the service.
Result<std::string> ask_instance(const CredentialService& service) {
  const auto http = connection();
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string token, ask(*http, "PUT", service.url + "/latest/api/token",
                                                            {{"x-aws-ec2-metadata-token-ttl-seconds", "21600"}}));
  const HeaderMap headers = {{"x-aws-ec2-metadata-token", token}};
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string roles, ask(*http, "GET", service.url + kRolePath, headers));
  const std::string role(trim(std::string_view(roles).substr(0, roles.find('\n'))));
  if (role.empty()) return Status(Code::kUnavailable, "this machine has no role");
  return ask(*http, "GET", service.url + kRolePath + role, headers);
}

}  // namespace

CredentialService credential_service(const Environment& environment) {
  using Kind = CredentialService::Kind;
  CredentialService service{.kind = Kind::kContainer,
                            .url = variable_text(environment, variable::kAwsContainerFullUri),
                            .token = variable_text(environment, variable::kAwsContainerToken),
                            .token_file = variable_text(environment, variable::kAwsContainerTokenFile)};
  const std::string relative = variable_text(environment, variable::kAwsContainerRelativeUri);
  if (!relative.empty()) service.url = kContainerHost + relative;
  if (!service.url.empty()) return service;
  if (parse_bool(variable_text(environment, variable::kAwsNoMetadata)).value_or(false)) return {};
  const std::string root = variable_text(environment, variable::kAwsMetadataEndpoint);
  return {.kind = Kind::kInstance, .url = root.empty() ? kInstanceRoot : root, .token = "", .token_file = ""};
}

Result<std::string> ask_for_credentials(const CredentialService& service) {
  return service.kind == CredentialService::Kind::kContainer ? ask_container(service) : ask_instance(service);
}

}  // namespace trainwarden::storage
