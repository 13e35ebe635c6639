// Access: whom the server answers. Loopback is no boundary: any web page that the user looks at can send requests to
// it, under any name that its owner lets point here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/http_message.h"

namespace trainwarden::server {

// 256 bits from the system's source of randomness, as 64 hexadecimal digits. kUnavailable.
Result<std::string> random_token();
// Takes the same time wherever the two differ.
bool same_secret(std::string_view a, std::string_view b);

class Access {
 public:
  struct Options {
    std::string token;    // what the user has: in the link, in the token file
    std::string session;  // what a browser gets for it: the value of the cookie
    std::uint16_t port = 0;
    // Beside 127.0.0.1, localhost and [::1]; "name" with any port, or "name:port".
    std::vector<std::string> allowed_hosts;
  };
  explicit Access(Options options) : options_(std::move(options)) {}

  // What every request must pass, and what says why it did not.
  std::optional<HttpAnswer> refuse(const HttpRequest& request) const;
  // What a request that changes something must pass beside that: no form and no image can send it.
  std::optional<HttpAnswer> refuse_post(const HttpRequest& request) const;

  bool has_session(const HttpRequest& request) const;
  bool is_token(std::string_view text) const { return same_secret(text, options_.token); }
  std::string cookie() const;  // the value of Set-Cookie

 private:
  bool is_allowed_host(std::string_view host) const;
  std::string cookie_name() const;

  Options options_;
};

}  // namespace trainwarden::server
