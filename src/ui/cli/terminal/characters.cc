#include "ui/cli/terminal/characters.h"

#include <algorithm>
#include <iterator>

#include "core/base/text.h"

namespace trainwarden::cli {
namespace {

struct CharacterRange {
  char32_t first, last;
};
#include "ui/cli/terminal/character_widths.inc"

template <std::size_t size>
bool is_within(char32_t character, const CharacterRange (&ranges)[size]) {
  const auto* range = std::lower_bound(std::begin(ranges), std::end(ranges), character,
                                       [](const CharacterRange& r, char32_t c) { return r.last < c; });
  return range != std::end(ranges) && range->first <= character;
}

void append_utf8(char32_t character, std::string& text) {
  const auto tail = [&](int shift) { text += static_cast<char>(0x80 | (character >> shift & 0x3f)); };
  if (character < 0x80) {
    text += static_cast<char>(character);
  } else if (character < 0x800) {
    text += static_cast<char>(0xc0 | character >> 6);
    tail(0);
  } else if (character < 0x10000) {
    text += static_cast<char>(0xe0 | character >> 12);
    tail(6), tail(0);
  } else {
    text += static_cast<char>(0xf0 | character >> 18);
    tail(12), tail(6), tail(0);
  }
}

}  // namespace

int cell_width(char32_t character) {
  if (character < 0x300) return 1;
  if (is_within(character, kJoining)) return 0;
  return is_within(character, kWide) ? 2 : 1;
}

int text_cells(std::string_view utf8) {
  int cells = 0;
  for (const char32_t character : to_utf32(utf8)) cells += cell_width(character);
  return cells;
}

std::string to_utf8(std::u32string_view text) {
  std::string utf8;
  for (const char32_t character : text) append_utf8(character, utf8);
  return utf8;
}

}  // namespace trainwarden::cli
