#include "characters.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace tiny_bert {
namespace {

// Every `stride`th character from `first` to `last` becomes the one that is `distance` away.
struct FoldingRun {
  char32_t first, last, stride;
  std::int32_t distance;
};
struct SeveralLetters {
  char32_t from;
  char32_t to[3];  // ended by 0
};
struct CharacterRange {
  char32_t first, last;
};
#include "character_tables.inc"

constexpr char32_t kReplacement = 0xfffd;

template <std::size_t size>
bool is_within(char32_t character, const CharacterRange (&ranges)[size]) {
  const auto* range = std::lower_bound(std::begin(ranges), std::end(ranges), character,
                                       [](const CharacterRange& r, char32_t c) { return r.last < c; });
  return range != std::end(ranges) && range->first <= character;
}

// A syllable of Hangul is made of two or three letters by arithmetic (Unicode 14.0, section 3.12).
bool append_hangul(char32_t character, std::u32string& text) {
  constexpr char32_t kFirst = 0xac00, kLast = 0xd7a3, kLeads = 0x1100, kVowels = 0x1161, kTails = 0x11a7;
  constexpr char32_t kVowelCount = 21, kTailCount = 28;
  if (character < kFirst || character > kLast) return false;
  const char32_t index = character - kFirst;
  text += kLeads + index / (kVowelCount * kTailCount);
  text += kVowels + index / kTailCount % kVowelCount;
  if (index % kTailCount != 0) text += kTails + index % kTailCount;
  return true;
}

bool append_several(char32_t character, std::u32string& text) {
  const auto* letters = std::lower_bound(std::begin(kSeveralLetters), std::end(kSeveralLetters), character,
                                         [](const SeveralLetters& l, char32_t c) { return l.from < c; });
  if (letters == std::end(kSeveralLetters) || letters->from != character) return false;
  for (const char32_t letter : letters->to) {
    if (letter != 0) text += letter;
  }
  return true;
}

char32_t folded_alone(char32_t character) {
  const auto* run = std::lower_bound(std::begin(kFoldingRuns), std::end(kFoldingRuns), character,
                                     [](const FoldingRun& r, char32_t c) { return r.last < c; });
  if (run == std::end(kFoldingRuns) || character < run->first || (character - run->first) % run->stride != 0) {
    return character;
  }
  return static_cast<char32_t>(static_cast<std::int32_t>(character) + run->distance);
}

// How many bytes a character takes that begins with `lead`; 0 when none does.
int encoded_bytes(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

// The character at the beginning of `bytes`, or kReplacement and one byte when there is none.
char32_t decode(std::string_view bytes, std::size_t& used) {
  const auto lead = static_cast<unsigned char>(bytes[0]);
  const int size = encoded_bytes(lead);
  used = 1;
  if (size == 1) return lead;
  if (size == 0 || bytes.size() < static_cast<std::size_t>(size)) return kReplacement;
  char32_t character = lead & (0x7fu >> size);
  for (int i = 1; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if ((byte & 0xc0) != 0x80) return kReplacement;
    character = character << 6 | (byte & 0x3fu);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = character >= 0xd800 && character < 0xe000;
  if (character < kLeast[size] || character > 0x10ffff || is_surrogate) return kReplacement;
  used = static_cast<std::size_t>(size);
  return character;
}

}  // namespace

std::u32string to_utf32(std::string_view utf8) {
  std::u32string text;
  std::size_t used = 0;
  for (; !utf8.empty(); utf8.remove_prefix(used)) text += decode(utf8, used);
  return text;
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

bool is_space(char32_t character) {
  if (character < 0x80) return character == ' ' || character == '\t' || character == '\n' || character == '\r';
  return is_within(character, kSpaces);
}

bool is_control(char32_t character) {
  if (is_space(character)) return false;
  return character < 0x80 ? character < 0x20 || character == 0x7f : is_within(character, kControls);
}

bool is_punctuation(char32_t character) {
  if (character >= 0x80) return is_within(character, kPunctuation);
  const bool is_digit = character >= '0' && character <= '9';
  const char32_t letter = character | 0x20;
  return character > 0x20 && character < 0x7f && !is_digit && !(letter >= 'a' && letter <= 'z');
}

bool is_ideograph(char32_t character) {
  // The blocks that BERT's own tokenizer names.
  constexpr CharacterRange kIdeographs[] = {{0x3400, 0x4dbf},   {0x4e00, 0x9fff},   {0xf900, 0xfaff},
                                            {0x20000, 0x2a6df}, {0x2a700, 0x2b73f}, {0x2b740, 0x2b81f},
                                            {0x2b820, 0x2ceaf}, {0x2f800, 0x2fa1f}};
  return is_within(character, kIdeographs);
}

void append_folded(char32_t character, std::u32string& text) {
  if (character < 0x80) {
    text += character >= 'A' && character <= 'Z' ? character + ('a' - 'A') : character;
    return;
  }
  if (is_within(character, kAccents) || append_hangul(character, text) || append_several(character, text)) return;
  text += folded_alone(character);
}

}  // namespace tiny_bert
