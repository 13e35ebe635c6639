// Characters of UTF-8, for text of any origin.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bert {

inline constexpr char32_t kReplacement = 0xfffd;

// The character at the beginning of `bytes`, which is not empty, and how many bytes it takes. What is no UTF-8 (a stray
// byte, an overlong form, a surrogate) is kReplacement and one byte.
char32_t decode_utf8(std::string_view bytes, std::size_t& used);
bool is_utf8(std::string_view text);
std::u32string to_utf32(std::string_view utf8);

inline constexpr std::size_t kMaxUtf8Bytes = 4;  // of a character
// Writes the character, a code point that is no surrogate; returns how many bytes it takes.
std::size_t encode_utf8(char32_t character, char* bytes);
void append_utf8(char32_t character, std::string& text);
std::string to_utf8(std::u32string_view text);

}  // namespace bert
