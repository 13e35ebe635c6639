#include "squad/final_text.h"

#include <algorithm>
#include <vector>

#include "text/characters.h"
#include "text/word_reader.h"

namespace bert {
namespace {

// Places of the characters that are no spaces, and these characters.
struct Letters {
  std::vector<std::size_t> places;
  std::size_t size() const { return places.size(); }
};

Letters letters_of(std::u32string_view text) {
  Letters letters;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != U' ') letters.places.push_back(i);
  }
  return letters;
}

std::u32string words_apart(std::string_view text, const Folding& folding) {
  std::string words;
  for (const std::string& word : basic_words(text, folding)) {
    if (!words.empty()) words += ' ';
    words += word;
  }
  return to_utf32(words);
}

}  // namespace

std::string final_text(std::string_view folded, std::string_view original, const Folding& folding) {
  const std::u32string whole = words_apart(original, folding), wanted = to_utf32(folded), text = to_utf32(original);
  const std::size_t begin = whole.find(wanted);
  if (begin == std::u32string::npos || wanted.empty()) return std::string(original);
  const Letters from = letters_of(whole), to = letters_of(text);
  if (from.size() != to.size()) return std::string(original);
  // Which of the letters stands at `place`; none does where it is a space.
  const auto number_at = [&](std::size_t place) {
    const auto found = std::lower_bound(from.places.begin(), from.places.end(), place);
    return found != from.places.end() && *found == place ? static_cast<std::size_t>(found - from.places.begin())
                                                         : from.size();
  };
  const std::size_t first = number_at(begin), last = number_at(begin + wanted.size() - 1);
  if (first == from.size() || last == from.size()) return std::string(original);
  return to_utf8(std::u32string_view(text).substr(to.places[first], to.places[last] - to.places[first] + 1));
}

}  // namespace bert
