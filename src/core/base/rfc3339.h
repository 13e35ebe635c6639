// Times as RFC 3339 texts in UTC: "2026-11-20T03:12:00.123456789Z".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainwarden {

// As many digits behind the second as `digits` says: 0, 3, 6 or 9. What is cut off is not rounded.
std::string format_rfc3339(std::int64_t unix_ns, int digits = 9);

// Any offset ("Z", "+01:00"), any number of digits; those behind the ninth are cut off. None when it is no such time,
// or one that 64 bits of nanoseconds cannot hold.
std::optional<std::int64_t> parse_rfc3339(std::string_view text);

}  // namespace trainwarden
