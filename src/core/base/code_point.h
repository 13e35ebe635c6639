// Code points of UTF-8, and those that do more to a terminal than show a sign.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace trainwarden {

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 0;  // 0: broken
};

// The code point at the front of `text`, which is not empty, as RFC 3629 allows it: no overlong forms, no surrogates.
inline CodePoint decode_utf8(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  char32_t value = lead & (0xff >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) return {};
    value = (value << 6) | (next & 0x3f);
  }
  constexpr std::array<char32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kSmallest[bytes] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return {};
  return {value, bytes};
}

// Control characters, ends of lines, and the marks that change the direction in which a terminal writes.
constexpr bool drives_terminal(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

}  // namespace trainwarden
