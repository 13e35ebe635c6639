#include "text/word_reader.h"

#include <algorithm>

#include "text/characters.h"

namespace bert {

WordReader::WordReader(const Folding& folding, std::string_view text, bool with_ranges)
    : folding_(folding), text_(text), with_ranges_(with_ranges), word_(128, '\0') {}

void WordReader::insert(std::size_t at, char32_t character, ByteRange from) {
  char encoded[kMaxUtf8Bytes];
  const std::size_t size = encode_utf8(character, encoded);
  if (word_.size() < bytes_ + size + kSlack) word_.resize(2 * word_.size());
  std::copy_backward(word_.data() + at, word_.data() + bytes_, word_.data() + bytes_ + size);
  std::copy_n(encoded, size, word_.data() + at);
  if (with_ranges_) ranges_.insert(ranges_.begin() + static_cast<std::ptrdiff_t>(at), size, from);
  bytes_ += size;
  ++characters_;
}

void WordReader::append(char32_t character, ByteRange from) {
  marks_.clear();
  insert(bytes_, character, from);
}

// The canonical order of Unicode (section 3.11): marks by their class, of one class as they come.
void WordReader::append_mark(char32_t character, char32_t combining_class, ByteRange from) {
  auto place = marks_.end();
  while (place != marks_.begin() && std::prev(place)->combining_class > combining_class) --place;
  const std::size_t at = place == marks_.end() ? bytes_ : place->at;
  const std::size_t bytes_before = bytes_;
  insert(at, character, from);
  place = marks_.insert(place, {combining_class, at});
  for (++place; place != marks_.end(); ++place) place->at += bytes_ - bytes_before;
}

ByteRange WordReader::range_around(std::size_t begin, std::size_t end) const {
  ByteRange around = ranges_[begin];
  for (std::size_t i = begin + 1; i < end; ++i) {
    around.begin = std::min(around.begin, ranges_[i].begin);
    around.end = std::max(around.end, ranges_[i].end);
  }
  return around;
}

bool WordReader::take_pending() {
  while (pending_at_ < pending_.count) {
    const Folding::Letter& letter = pending_.letters[pending_at_];
    if (letter.entry.kind == Folding::Kind::kPunctuation) {
      if (bytes_ > 0) return true;
      ++pending_at_;
      append(letter.character, pending_from_);
      return true;
    }
    ++pending_at_;
    if (letter.entry.kind == Folding::Kind::kMark) {
      append_mark(letter.character, letter.entry.value, pending_from_);
    } else {
      append(letter.character, pending_from_);
    }
  }
  return false;
}

bool WordReader::take_character() {
  using Kind = Folding::Kind;
  std::size_t used = 0;
  const char32_t character = decode_utf8(text_.substr(at_), used);
  const Folding::Entry entry = folding_[character];
  const ByteRange from{at_, at_ + used};
  const bool ends_word =
      entry.kind == Kind::kSpace || entry.kind == Kind::kPunctuation || entry.kind == Kind::kIdeograph;
  if (ends_word && bytes_ > 0) return true;
  at_ += used;
  switch (entry.kind) {
    case Kind::kSame: append(character, from); break;
    case Kind::kLetter: append(entry.value, from); break;
    case Kind::kMark: append_mark(character, entry.value, from); break;
    case Kind::kSeveral:
      pending_ = folding_.several(character);
      pending_at_ = 0;
      pending_from_ = from;
      return take_pending();
    case Kind::kPunctuation:
    case Kind::kIdeograph: append(entry.value, from); return true;
    case Kind::kAccent: marks_.clear(); break;
    case Kind::kSpace:
    case Kind::kDropped: break;
  }
  return false;
}

bool WordReader::next_slowly() {
  bytes_ = characters_ = 0;
  is_ascii_ = false;
  ranges_.clear();
  marks_.clear();
  bool has_ended = take_pending();
  while (!has_ended && at_ < text_.size()) has_ended = take_character();
  return bytes_ > 0;
}

std::vector<std::string> basic_words(std::string_view utf8, const Folding& folding) {
  std::vector<std::string> words;
  WordReader reader(folding, utf8, false);
  while (reader.next()) words.emplace_back(reader.word());
  return words;
}

}  // namespace bert
