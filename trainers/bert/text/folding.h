// Folding: what becomes of each character before a text is split into words.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace bert {

// As Hugging Face's BertNormalizer has them; control characters are always left out (its clean_text).
struct FoldingOptions {
  bool lower_case = true;
  std::optional<bool> strip_accents;  // as lower_case where it is not said
  bool split_chinese = true;          // a Chinese character is a word of its own
};

// The tables of one set of options. Safe for any number of threads once it is made.
//
// Everything is as the library `tokenizers` 0.23 has it, for every code point: categories of Unicode 8, decompositions
// of Unicode 9 and small letters of its compiler's Unicode. ICU 72 does not agree with any of them.
class Folding {
 public:
  enum class Kind : std::uint8_t {
    kSame,         // a letter that stays as it is
    kLetter,       // becomes the letter `value`
    kMark,         // stays, but is ordered among the marks around it by its combining class, `value`
    kPunctuation,  // becomes `value`, which is a word of its own
    kIdeograph,    // becomes `value`, and stands alone
    kSeveral,      // becomes several letters
    kSpace,
    kDropped,  // is not there; marks are ordered over it
    kAccent,   // is taken away, after marks are ordered: those of both sides do not mix
  };
  struct Entry {
    Kind kind = Kind::kSame;
    char32_t value = 0;
  };
  // One of several letters; never of a kind that is more than one character.
  struct Letter {
    char32_t character = 0;
    Entry entry;
  };

  explicit Folding(const FoldingOptions& options);

  Entry operator[](char32_t character) const { return pages_[page_of_[character >> kPageBits]][character & kPageMask]; }
  struct Letters {
    std::array<Letter, 3> letters;
    std::size_t count = 0;
  };
  // What a character of the kind kSeveral becomes.
  Letters several(char32_t character) const;

  // For an ASCII byte: the letter that it becomes, or one of these; kNotAscii for other bytes.
  static constexpr std::uint8_t kAsciiSpace = 0, kAsciiDropped = 1, kAsciiPunctuation = 2, kNotAscii = 3;
  const std::array<std::uint8_t, 256>& bytes() const { return bytes_; }

 private:
  static constexpr unsigned kPageBits = 8;
  static constexpr char32_t kPageMask = (1u << kPageBits) - 1;
  using Page = std::array<Entry, 1u << kPageBits>;

  void set(char32_t character, Entry entry);
  void set_what_it_becomes();
  void set_what_is_left_out();
  void set_bytes();
  Letters folded(char32_t character) const;

  FoldingOptions options_;
  bool strips_accents_;
  std::vector<std::uint16_t> page_of_;
  std::vector<Page> pages_;       // the first is that of characters that stay
  std::vector<Letters> several_;  // by `value`
  std::array<std::uint8_t, 256> bytes_{};
};

}  // namespace bert
