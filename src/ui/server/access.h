// Access: whom the server answers. Loopback is no boundary: any web page that the user looks at can send requests to
// it, under any name that its owner lets point here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ui/server/http_message.h"

namespace trainwarden::server {

// 256 bits from the system's source of randomness, as 64 hexadecimal digits. kUnavailable.
Result<std::string> random_token();
// Takes the same time wherever the two differ.
bool same_secret(std::string_view a, std::string_view b);

class Access {
 public:
  struct Options {
    std::string token;  // what the user has: in the link, in the token file
    // Beside 127.0.0.1, localhost and [::1]; "name" with any port, or "name:port".
    std::vector<std::string> allowed_hosts;
  };
  explicit Access(Options options) : options_(std::move(options)) {}

  // What every request must pass, and what says why it did not.
  std::optional<HttpAnswer> refuse(const HttpRequest& request) const;
  // What a request that changes something must pass beside that: no form and no image can send it.
  std::optional<HttpAnswer> refuse_post(const HttpRequest& request) const;

  // "Authorization: Bearer TOKEN". No cookie: browsers send those to every port of a host, and so to whoever else
  // listens there.
  bool has_token(const HttpRequest& request) const;
  // The same of a call of AWS: the token is the access key.
  bool has_access_key(const HttpRequest& request) const;

 private:
  bool is_allowed_host(std::string_view host) const;

  Options options_;
};

}  // namespace trainwarden::server
