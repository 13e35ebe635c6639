#include "react/network/target_url.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/exchange/address_guard.h"

namespace trainwarden::network {
namespace {

using UrlHandle = std::unique_ptr<CURLU, decltype(&curl_url_cleanup)>;

std::string part(const UrlHandle& url, CURLUPart which) {
  char* text = nullptr;
  if (curl_url_get(url.get(), which, &text, 0) != CURLUE_OK) return {};
  const std::unique_ptr<char, decltype(&curl_free)> owner(text, &curl_free);
  return text;
}

Status bad_url(std::string_view why) {
  return Status(Code::kInvalidArgument,
                fmt::format("expected a URL such as https://host.example/path; {} (the URL itself is not shown, for it "
                            "may hold a secret)",
                            why));
}

bool holds_blanks(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char byte) { return byte <= ' ' || byte == 0x7f; });
}

}  // namespace

bool is_loopback_host(std::string_view host) {
  if (lower(host) == "localhost") return true;
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const std::string text(host);
  sockaddr_in ipv4{};
  ipv4.sin_family = AF_INET;
  if (::inet_pton(AF_INET, text.c_str(), &ipv4.sin_addr) == 1)
    return exchange::is_loopback(reinterpret_cast<sockaddr&>(ipv4));
  sockaddr_in6 ipv6{};
  ipv6.sin6_family = AF_INET6;
  return ::inet_pton(AF_INET6, text.c_str(), &ipv6.sin6_addr) == 1 &&
         exchange::is_loopback(reinterpret_cast<sockaddr&>(ipv6));
}

Result<TargetUrl> parse_target_url(std::string_view text, bool allow_http) {
  if (holds_blanks(text)) return bad_url("found blanks or control characters in it");
  if (text.find(":///") != std::string_view::npos) return bad_url("found one without a host");
  const UrlHandle url(curl_url(), &curl_url_cleanup);
  const std::string whole(text);
  const CURLUcode parsed = curl_url_set(url.get(), CURLUPART_URL, whole.c_str(), CURLU_NON_SUPPORT_SCHEME);
  if (parsed != CURLUE_OK) return bad_url(fmt::format("found a text that is none: {}", curl_url_strerror(parsed)));
  const std::string scheme = part(url, CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https") return bad_url("found one that begins with neither https:// nor http://");
  if (!part(url, CURLUPART_USER).empty() || !part(url, CURLUPART_PASSWORD).empty()) {
    return bad_url("found a user or password in it, which would be seen in logs; use the parameter token");
  }
  const std::string host = part(url, CURLUPART_HOST);
  const std::string port = part(url, CURLUPART_PORT);
  TargetUrl target;
  target.url = whole;
  target.place = printable(fmt::format("{}://{}{}{}", scheme, host, port.empty() ? "" : ":", port));
  target.encrypted = scheme == "https";
  target.loopback = is_loopback_host(host);
  if (!target.encrypted && !target.loopback && !allow_http) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{} is not encrypted, so anybody on the way could read the event; use https://, or say "
                              "allow_http=true when you trust the network",
                              target.place));
  }
  return target;
}

}  // namespace trainwarden::network
