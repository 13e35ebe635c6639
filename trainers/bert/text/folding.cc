#include "text/folding.h"

#include <algorithm>
#include <iterator>

namespace bert {
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
struct CombiningRange {
  char32_t first, last;
  char32_t combining_class;
};
#include "character_tables.inc"

constexpr char32_t kCodePoints = 0x110000;
constexpr char32_t kFirstSyllable = 0xac00, kLastSyllable = 0xd7a3;
constexpr char32_t kHangul = 0xffffffff;  // as `value` of kSeveral

template <class Range, std::size_t size>
const Range* range_with(char32_t character, const Range (&ranges)[size]) {
  const auto* range = std::lower_bound(std::begin(ranges), std::end(ranges), character,
                                       [](const Range& r, char32_t c) { return r.last < c; });
  return range != std::end(ranges) && range->first <= character ? range : nullptr;
}

template <std::size_t size>
char32_t moved(char32_t character, const FoldingRun (&runs)[size]) {
  const FoldingRun* run = range_with(character, runs);
  if (run == nullptr || (character - run->first) % run->stride != 0) return character;
  return static_cast<char32_t>(static_cast<std::int32_t>(character) + run->distance);
}

template <std::size_t size>
std::u32string_view several_of(char32_t character, const SeveralLetters (&all)[size]) {
  const auto* found = std::lower_bound(std::begin(all), std::end(all), character,
                                       [](const SeveralLetters& l, char32_t c) { return l.from < c; });
  if (found == std::end(all) || found->from != character) return {};
  return {found->to, static_cast<std::size_t>(std::find(found->to, std::end(found->to), 0u) - found->to)};
}

bool is_ascii_punctuation(char32_t character) {
  const bool is_digit = character >= '0' && character <= '9';
  const char32_t letter = character | 0x20;
  return character > 0x20 && character < 0x7f && !is_digit && !(letter >= 'a' && letter <= 'z');
}

bool is_punctuation(char32_t character) {
  return character < 0x80 ? is_ascii_punctuation(character) : range_with(character, kPunctuation) != nullptr;
}

char32_t lowered(char32_t character) {
  if (character < 0x80) return character >= 'A' && character <= 'Z' ? character + ('a' - 'A') : character;
  return moved(character, kLoweredRuns);
}

Folding::Letter letter_of(char32_t character) {
  using Kind = Folding::Kind;
  if (is_punctuation(character)) return {character, {Kind::kPunctuation, character}};
  if (const CombiningRange* range = range_with(character, kCombining)) {
    return {character, {Kind::kMark, range->combining_class}};
  }
  return {character, {Kind::kLetter, character}};
}

void append(char32_t character, Folding::Letters& letters) {
  letters.letters[letters.count++] = letter_of(character);
}

// A syllable of Hangul is made of two or three letters by arithmetic (Unicode, section 3.12).
Folding::Letters letters_of_hangul(char32_t character) {
  constexpr char32_t kLeads = 0x1100, kVowels = 0x1161, kTails = 0x11a7, kVowelCount = 21, kTailCount = 28;
  const char32_t index = character - kFirstSyllable;
  const auto letter = [](char32_t c) { return Folding::Letter{c, {Folding::Kind::kLetter, c}}; };
  Folding::Letters letters;
  letters.letters[0] = letter(kLeads + index / (kVowelCount * kTailCount));
  letters.letters[1] = letter(kVowels + index / kTailCount % kVowelCount);
  letters.letters[2] = letter(kTails + index % kTailCount);
  letters.count = index % kTailCount != 0 ? 3 : 2;
  return letters;
}

}  // namespace

Folding::Folding(const FoldingOptions& options)
    : options_(options), strips_accents_(options.strip_accents.value_or(options.lower_case)) {
  page_of_.assign(kCodePoints >> kPageBits, 0);
  pages_.emplace_back();
  set_what_it_becomes();
  set_what_is_left_out();
  set_bytes();
}

void Folding::set(char32_t character, Entry entry) {
  std::uint16_t& page = page_of_[character >> kPageBits];
  if (page == 0) {
    page = static_cast<std::uint16_t>(pages_.size());
    pages_.emplace_back();
  }
  pages_[page][character & kPageMask] = entry;
}

// Without accents first, then in lower case: the library's order, which differs for a dotted capital I.
Folding::Letters Folding::folded(char32_t character) const {
  Letters letters;
  std::u32string_view parts = strips_accents_ ? several_of(character, kStrippedSeveral) : std::u32string_view();
  const char32_t one = strips_accents_ ? moved(character, kStrippedRuns) : character;
  if (parts.empty()) parts = {&one, 1};
  for (const char32_t part : parts) {
    const std::u32string_view several = options_.lower_case ? several_of(part, kLoweredSeveral) : std::u32string_view();
    for (const char32_t letter : several) append(letter, letters);
    if (several.empty()) append(options_.lower_case ? lowered(part) : part, letters);
  }
  return letters;
}

void Folding::set_what_it_becomes() {
  const auto set_folded = [&](char32_t character) {
    const Letters letters = folded(character);
    if (letters.count > 1) {
      set(character, {Kind::kSeveral, static_cast<char32_t>(several_.size())});
      several_.push_back(letters);
      return;
    }
    const Letter& letter = letters.letters[0];
    if (letter.entry.kind == Kind::kMark && !strips_accents_) return;  // marks stay where they are
    const bool is_same = letter.entry.kind == Kind::kLetter && letter.character == character;
    if (!is_same) set(character, letter.entry);
  };
  const auto set_all = [&](const auto& ranges) {
    for (const auto& range : ranges) {
      for (char32_t c = range.first; c <= range.last; ++c) set_folded(c);
    }
  };
  for (char32_t c = 0; c < 0x80; ++c) set_folded(c);
  set_all(kPunctuation);
  set_all(kLoweredRuns);
  for (const SeveralLetters& letters : kLoweredSeveral) set_folded(letters.from);
  if (strips_accents_) {
    set_all(kStrippedRuns);
    set_all(kCombining);
    for (const SeveralLetters& letters : kStrippedSeveral) set_folded(letters.from);
    for (char32_t c = kFirstSyllable; c <= kLastSyllable; ++c) set(c, {Kind::kSeveral, kHangul});
  }
  if (!options_.split_chinese) return;
  for (const CharacterRange& range : kIdeographs) {
    for (char32_t c = range.first; c <= range.last; ++c) {
      set(c, {Kind::kIdeograph, folded(c).letters[0].character});
    }
  }
}

void Folding::set_what_is_left_out() {
  const auto set_all = [&](const auto& ranges, Kind kind) {
    for (const CharacterRange& range : ranges) {
      for (char32_t c = range.first; c <= range.last; ++c) set(c, {kind, 0});
    }
  };
  if (strips_accents_) {
    for (const CharacterRange& range : kAccents) {
      for (char32_t c = range.first; c <= range.last; ++c) {
        set(c, {range_with(c, kCombining) != nullptr ? Kind::kDropped : Kind::kAccent, 0});
      }
    }
  }
  set_all(kSpaces, Kind::kSpace);
  set_all(kDropped, Kind::kDropped);
  for (char32_t c = 0; c < 0x80; ++c) {
    const bool is_space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (is_space || c < 0x20 || c == 0x7f) set(c, {is_space ? Kind::kSpace : Kind::kDropped, 0});
  }
}

void Folding::set_bytes() {
  bytes_.fill(kNotAscii);
  for (char32_t c = 0; c < 0x80; ++c) {
    const Entry entry = (*this)[c];
    bytes_[c] = entry.kind == Kind::kSpace         ? kAsciiSpace
                : entry.kind == Kind::kDropped     ? kAsciiDropped
                : entry.kind == Kind::kPunctuation ? kAsciiPunctuation
                : entry.kind == Kind::kSame        ? static_cast<std::uint8_t>(c)
                                                   : static_cast<std::uint8_t>(entry.value);
  }
}

Folding::Letters Folding::several(char32_t character) const {
  const Entry entry = (*this)[character];
  return entry.value == kHangul ? letters_of_hangul(character) : several_[entry.value];
}

}  // namespace bert
