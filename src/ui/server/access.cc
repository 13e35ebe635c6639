#include "ui/server/access.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>
#include <sys/random.h>

#include "core/base/text.h"
#include "ui/server/aws_answers.h"

namespace trainwarden::server {
namespace {

// "localhost:8000" as {"localhost", "8000"}, "[::1]:8000" as {"[::1]", "8000"}.
std::pair<std::string, std::string> split_host(std::string_view host) {
  const std::size_t bracket = host.rfind(']');
  const std::size_t colon = host.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon == std::string_view::npos) return {lower(host), ""};
  return {lower(host.substr(0, colon)), std::string(host.substr(colon + 1))};
}

bool is_port(std::string_view text) {
  return text.size() <= 5 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

HttpAnswer forbidden(std::string_view message) {
  HttpAnswer answer = error_answer(403, name(Code::kPermissionDenied), message);
  answer.close = true;
  return answer;
}

// A page of ours, a program, or an address that the user typed or follows to the page itself.
bool is_welcome_site(const HttpRequest& request) {
  const std::string_view site = request.header("sec-fetch-site");
  if (site.empty() || site == "same-origin" || site == "none") return true;
  const bool to_page = !request.target.starts_with("/api/");
  return to_page && request.method == "GET" && request.header("sec-fetch-mode") == "navigate" &&
         request.header("sec-fetch-dest") == "document";
}

bool is_own_origin(std::string_view origin, std::string_view host) {
  for (const std::string_view scheme : {"http://", "https://"}) {  // the latter in front of us, by somebody else
    if (origin.starts_with(scheme) && lower(origin.substr(scheme.size())) == lower(host)) return true;
  }
  return false;
}

}  // namespace

Result<std::string> random_token() {
  std::array<unsigned char, 32> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return Status(Code::kUnavailable, "the system gives no random bytes (getrandom), without which nothing is served");
  }
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size() || a.empty()) return false;
  volatile unsigned char difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference =
        static_cast<unsigned char>(difference | (static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i])));
  }
  return difference == 0;
}

// The port of a loopback name is not compared: behind `ssh -L 9000:127.0.0.1:8000` it is another one, and a page of
// somebody else's under that name is known by its Origin.
bool Access::is_allowed_host(std::string_view host) const {
  const auto parts = split_host(host);
  const std::string_view name = parts.first;
  const std::string_view port = parts.second;
  if (!is_port(port)) return false;
  if (name == "127.0.0.1" || name == "localhost" || name == "[::1]") return true;
  return std::any_of(options_.allowed_hosts.begin(), options_.allowed_hosts.end(), [&](const std::string& allowed) {
    const auto [allowed_name, allowed_port] = split_host(allowed);
    return name == allowed_name && (allowed_port.empty() || port == allowed_port);
  });
}

std::optional<HttpAnswer> Access::refuse(const HttpRequest& request) const {
  const std::string_view host = request.header("host");
  if (request.count("host") != 1 || !is_allowed_host(host)) {
    return forbidden(
        fmt::format("this server does not answer under the name \"{}\"; it does as 127.0.0.1 and localhost, "
                    "and under the names of --allowed-host",
                    printable(host.substr(0, 200))));
  }
  const std::string_view origin = request.header("origin");
  if (request.count("origin") > 0 && (request.count("origin") != 1 || !is_own_origin(origin, host))) {
    return forbidden(
        fmt::format("a page of \"{}\" may not ask this server; its own page may", printable(origin.substr(0, 200))));
  }
  if (!is_welcome_site(request)) return forbidden("a page of another site may not ask this server; its own page may");
  return std::nullopt;
}

std::optional<HttpAnswer> Access::refuse_post(const HttpRequest& request) const {
  const std::string type =
      lower(trim(request.header("content-type").substr(0, request.header("content-type").find(';'))));
  if (type != "application/json") {
    return error_answer(415, name(Code::kInvalidArgument),
                        "a POST has a body of Content-Type application/json; no other is taken");
  }
  if (request.header("x-trainwarden") != "1") {
    return forbidden("a POST has the header \"X-Trainwarden: 1\", which pages of other sites cannot send");
  }
  return std::nullopt;
}

bool Access::has_token(const HttpRequest& request) const {
  constexpr std::string_view kBearer = "bearer ";
  const std::string_view authorization = request.header("authorization");
  if (request.count("authorization") != 1 || lower(authorization.substr(0, kBearer.size())) != kBearer) return false;
  return same_secret(trim(authorization.substr(kBearer.size())), options_.token);
}

bool Access::has_access_key(const HttpRequest& request) const {
  return same_secret(access_key_of(request), options_.token);
}

}  // namespace trainwarden::server
