// WordReader: the words of a text one after another, folded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/folding.h"

namespace bert {

// Where in the original text, in bytes.
struct ByteRange {
  std::size_t begin = 0, end = 0;
};

// The first half of BERT's tokenizer (BasicTokenizer of Devlin et al. 2018, as BertNormalizer and BertPreTokenizer of
// Hugging Face have it): splits at spaces; a mark of punctuation and a Chinese character is a word of its own.
// For one thread; `folding` and `text` must outlive it.
class WordReader {
 public:
  static constexpr std::size_t kSlack = 32;  // bytes that may be read behind a word

  WordReader(const Folding& folding, std::string_view text, bool with_ranges);

  // Goes to the next word; false at the end of the text.
  bool next() {
    if (pending_at_ < pending_.count) return next_slowly();
    const auto& kinds = folding_.bytes();
    while (at_ < text_.size()) {
      const std::uint8_t kind = kinds[static_cast<unsigned char>(text_[at_])];
      if (kind > Folding::kNotAscii) return next_of_ascii();
      if (kind == Folding::kNotAscii) return next_slowly();
      if (kind == Folding::kAsciiPunctuation) {
        word_[0] = text_[at_];
        take_ascii(1);
        return true;
      }
      ++at_;
    }
    return false;
  }

  // Valid until next(); in UTF-8, never empty.
  std::string_view word() const { return {word_.data(), bytes_}; }
  std::size_t characters() const { return characters_; }
  // What the bytes [begin, end) of word() come from, at least one; wants `with_ranges`. Where marks were ordered, from
  // the first of their places to the last.
  ByteRange range_of(std::size_t begin, std::size_t end) const {
    return is_ascii_ ? ByteRange{begin_ + begin, begin_ + end} : range_around(begin, end);
  }

 private:
  // Of marks that follow each other in the word.
  struct PlacedMark {
    char32_t combining_class;
    std::size_t at;  // in word_
  };

  void take_ascii(std::size_t bytes) {
    begin_ = at_;
    at_ += bytes;
    bytes_ = characters_ = bytes;
    is_ascii_ = true;
  }
  // A word that begins with an ASCII letter or digit, and most often is made of nothing else.
  bool next_of_ascii() {
    constexpr std::size_t kMaxBytes = 64;
    const std::uint8_t* kinds = folding_.bytes().data();
    // By pointers of its own: a byte that is written might be any member's.
    const char* from = text_.data() + at_;
    char* to = word_.data();
    const std::size_t most = text_.size() - at_ < kMaxBytes ? text_.size() - at_ : kMaxBytes;
    std::size_t bytes = 0;
    std::uint8_t kind = Folding::kAsciiSpace;
    for (; bytes < most; ++bytes) {
      kind = kinds[static_cast<unsigned char>(from[bytes])];
      if (kind <= Folding::kNotAscii) break;
      to[bytes] = static_cast<char>(kind);
    }
    const bool has_ended =
        bytes < most ? kind == Folding::kAsciiSpace || kind == Folding::kAsciiPunctuation : at_ + bytes == text_.size();
    if (!has_ended) return next_slowly();
    take_ascii(bytes);
    return true;
  }

  ByteRange range_around(std::size_t begin, std::size_t end) const;
  bool next_slowly();
  bool take_pending();  // true when the word has ended
  bool take_character();
  void append(char32_t character, ByteRange from);
  void append_mark(char32_t character, char32_t combining_class, ByteRange from);
  void insert(std::size_t at, char32_t character, ByteRange from);

  const Folding& folding_;
  const std::string_view text_;
  const bool with_ranges_;
  std::size_t at_ = 0;
  std::string word_;  // longer than the word, for what reads behind it
  std::size_t bytes_ = 0;
  std::size_t characters_ = 0;
  bool is_ascii_ = true;
  std::size_t begin_ = 0;          // of a word of ASCII, in text_
  std::vector<ByteRange> ranges_;  // of each byte of another word
  std::vector<PlacedMark> marks_;
  Folding::Letters pending_;  // of the character before at_
  std::size_t pending_at_ = 0;
  ByteRange pending_from_;
};

// All words of a text.
std::vector<std::string> basic_words(std::string_view utf8, const Folding& folding);

}  // namespace bert
