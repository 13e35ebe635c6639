// Signatures of webhooks as in the Standard Webhooks specification: HMAC-SHA256 over "<id>.<timestamp>.<body>".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden::network {

// The key in a secret: what follows "whsec_" in base64, or the bytes of any other text. kInvalidArgument when there is
// no base64 behind "whsec_"; the message does not show it.
Result<std::string> signing_key(std::string_view secret);

// "v1,<base64>" for each key, separated by blanks: who verifies needs to know one of them.
Result<std::string> signature_header(std::span<const std::string> keys, std::string_view id, std::int64_t unix_seconds,
                                     std::string_view body);

}  // namespace trainwarden::network
