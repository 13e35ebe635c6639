#include "text/characters.h"

namespace bert {
namespace {

// How many bytes a character takes that begins with `lead`; 0 when none does.
std::size_t encoded_bytes(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

}  // namespace

char32_t decode_utf8(std::string_view bytes, std::size_t& used) {
  const auto lead = static_cast<unsigned char>(bytes[0]);
  const std::size_t size = encoded_bytes(lead);
  used = 1;
  if (size == 1) return lead;
  if (size == 0 || bytes.size() < size) return kReplacement;
  char32_t character = lead & (0x7fu >> size);
  for (std::size_t i = 1; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if ((byte & 0xc0) != 0x80) return kReplacement;
    character = character << 6 | (byte & 0x3fu);
  }
  constexpr char32_t kMin[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = character >= 0xd800 && character < 0xe000;
  if (character < kMin[size] || character > 0x10ffff || is_surrogate) return kReplacement;
  used = size;
  return character;
}

bool is_utf8(std::string_view text) {
  for (std::size_t used = 0; !text.empty(); text.remove_prefix(used)) {
    if (decode_utf8(text, used) == kReplacement && used == 1) return false;
  }
  return true;
}

std::u32string to_utf32(std::string_view utf8) {
  std::u32string text;
  std::size_t used = 0;
  for (; !utf8.empty(); utf8.remove_prefix(used)) text += decode_utf8(utf8, used);
  return text;
}

std::size_t encode_utf8(char32_t character, char* bytes) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80 | (character >> shift & 0x3f)); };
  if (character < 0x80) {
    bytes[0] = static_cast<char>(character);
    return 1;
  }
  if (character < 0x800) {
    bytes[0] = static_cast<char>(0xc0 | character >> 6), bytes[1] = tail(0);
    return 2;
  }
  if (character < 0x10000) {
    bytes[0] = static_cast<char>(0xe0 | character >> 12), bytes[1] = tail(6), bytes[2] = tail(0);
    return 3;
  }
  bytes[0] = static_cast<char>(0xf0 | character >> 18), bytes[1] = tail(12), bytes[2] = tail(6), bytes[3] = tail(0);
  return 4;
}

void append_utf8(char32_t character, std::string& text) {
  char bytes[kMaxUtf8Bytes];
  text.append(bytes, encode_utf8(character, bytes));
}

std::string to_utf8(std::u32string_view text) {
  std::string utf8;
  for (const char32_t character : text) append_utf8(character, utf8);
  return utf8;
}

}  // namespace bert
