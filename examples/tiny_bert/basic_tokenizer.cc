#include "basic_tokenizer.h"

#include "characters.h"

namespace tiny_bert {
namespace {

class WordList {
 public:
  void add(char32_t character) { append_utf8(character, word_); }
  void end_word() {
    if (!word_.empty()) words_.push_back(std::move(word_));
    word_.clear();
  }
  void add_alone(char32_t character) {
    end_word();
    add(character);
    end_word();
  }
  std::vector<std::string> take() {
    end_word();
    return std::move(words_);
  }

 private:
  std::string word_;
  std::vector<std::string> words_;
};

bool is_left_out(char32_t character) {
  constexpr char32_t kReplacement = 0xfffd;
  return character == 0 || character == kReplacement || is_control(character);
}

}  // namespace

std::vector<std::string> basic_words(std::string_view utf8) {
  WordList words;
  std::u32string folded;
  for (const char32_t character : to_utf32(utf8)) {
    if (is_left_out(character)) continue;
    if (is_space(character)) {
      words.end_word();
      continue;
    }
    // An ideograph is known by what it was: folding may take it out of the blocks that are split.
    const bool stands_alone = is_ideograph(character);
    if (stands_alone) words.end_word();
    folded.clear();
    append_folded(character, folded);
    for (const char32_t letter : folded) is_punctuation(letter) ? words.add_alone(letter) : words.add(letter);
    if (stands_alone) words.end_word();
  }
  return words.take();
}

}  // namespace tiny_bert
