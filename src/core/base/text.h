// Small helpers for text that people read or type.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainwarden {

// "a, b ,c" split at ',' → {"a", "b", "c"}: trimmed, empty parts dropped.
std::vector<std::string> split_list(std::string_view text, char separator = ',');
std::string_view trim(std::string_view text);
std::string lower(std::string_view text);

// The whole of `text` as a number, or nothing.
std::optional<double> parse_double(std::string_view text);
std::optional<std::int64_t> parse_int(std::string_view text);
std::optional<bool> parse_bool(std::string_view text);  // true, True, 1, yes, on and their opposites

// The candidate nearest to what was typed, when it is near enough to be a slip of the hand.
std::optional<std::string> nearest(std::string_view typed, std::span<const std::string> candidates);
// `; did you mean "save_interval"?` or "".
std::string did_you_mean(std::string_view typed, std::span<const std::string> candidates);

// "1.5 KiB", "3.0 GiB"
std::string format_bytes(std::uint64_t bytes);
// "1.2 ms", "3 min 5 s"
std::string format_duration_ns(std::int64_t ns);
// Control characters and broken UTF-8 shown as \xNN, so that a name cannot drive the terminal.
std::string printable(std::string_view text);
bool is_utf8(std::string_view text);
std::string with_valid_utf8(std::string_view text);  // each byte that is no UTF-8 becomes U+FFFD
std::u32string to_utf32(std::string_view text);      // a byte that is no UTF-8 becomes U+FFFD

}  // namespace trainwarden
