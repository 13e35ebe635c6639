// TargetUrl: an http or https URL that we would send to, taken apart.
#pragma once

#include <string>
#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden::network {

struct TargetUrl {
  std::string url;        // whole; may hold a secret
  std::string place;      // "https://hooks.example.com:8443": what people may see of it
  bool encrypted = true;  // https
  bool loopback = false;  // its host is localhost or a loopback address
};

// kInvalidArgument when it is no URL, neither http nor https, holds a user or password, or is http to another machine
// without `allow_http`. The message does not show the text, which may hold a secret.
Result<TargetUrl> parse_target_url(std::string_view text, bool allow_http);

// "localhost", "127.0.0.1", "::1", "[::1]".
bool is_loopback_host(std::string_view host);

}  // namespace trainwarden::network
