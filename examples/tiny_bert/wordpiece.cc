#include "wordpiece.h"

#include <string>

#include "basic_tokenizer.h"
#include "characters.h"

namespace tiny_bert {
namespace {

constexpr std::size_t kMostCharacters = 200;

bool begins_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
}

// Ends of the word's characters, in bytes.
std::vector<std::size_t> character_ends(std::string_view word) {
  std::vector<std::size_t> ends;
  for (std::size_t i = 1; i <= word.size(); ++i) {
    if (i == word.size() || begins_character(word[i])) ends.push_back(i);
  }
  return ends;
}

void append_pieces(const Vocabulary& vocabulary, std::string_view word, std::vector<std::int64_t>& ids) {
  const std::vector<std::size_t> ends = character_ends(word);
  const std::size_t ids_before = ids.size();
  std::size_t begin = 0;       // in bytes
  std::size_t characters = 0;  // that begin before `begin`
  std::string piece;
  while (begin < word.size()) {
    std::size_t last = ends.size();
    std::optional<std::int64_t> id;
    for (; last > characters && !id; --last) {
      piece = begin == 0 ? "" : kContinues;
      piece += word.substr(begin, ends[last - 1] - begin);
      id = vocabulary.find(piece);
    }
    if (!id || ends.size() > kMostCharacters) {
      ids.resize(ids_before);
      ids.push_back(vocabulary.unknown());
      return;
    }
    ids.push_back(*id);
    begin = ends[last];
    characters = last + 1;
  }
}

}  // namespace

std::vector<std::int64_t> wordpieces(const Vocabulary& vocabulary, std::string_view text) {
  std::vector<std::int64_t> ids;
  for (const std::string& word : basic_words(text)) append_pieces(vocabulary, word, ids);
  return ids;
}

}  // namespace tiny_bert
