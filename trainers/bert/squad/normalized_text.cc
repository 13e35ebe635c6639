#include "squad/normalized_text.h"

#include <unicode/locid.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>

#include "text/characters.h"

namespace bert {
namespace {

// str.lower() of Python: also a capital sigma at the end of a word, and letters that become two.
std::u32string lowered_as_python(std::string_view text) {
  icu::UnicodeString utf16 = icu::UnicodeString::fromUTF8({text.data(), static_cast<std::int32_t>(text.size())});
  utf16.toLower(icu::Locale::getRoot());
  std::u32string letters;
  for (std::int32_t at = 0; at < utf16.length(); at = utf16.moveIndex32(at, 1)) {
    letters += static_cast<char32_t>(utf16.char32At(at));
  }
  return letters;
}

// Whether Python's \w has it: str.isalnum(), or "_".
bool is_of_word(char32_t character) {
  const auto c = static_cast<UChar32>(character);
  return c == '_' || (U_GET_GC_MASK(c) & U_GC_L_MASK) != 0 || u_getIntPropertyValue(c, UCHAR_NUMERIC_TYPE) != U_NT_NONE;
}

// str.isspace() of Python.
bool is_space_of_python(char32_t c) {
  return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

// string.punctuation of Python.
bool is_punctuation_of_python(char32_t c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

bool is_article(std::u32string_view word) {
  return word == U"a" || word == U"an" || word == U"the";
}

// re.sub(r"\b(a|an|the)\b", " ", text): an article is a whole run of \w, since \b is nowhere within one.
std::u32string without_articles(std::u32string_view text) {
  std::u32string kept;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_of_word(text[end])) ++end;
    const std::u32string_view run = text.substr(at, end - at);
    is_article(run) ? kept.append(1, U' ') : kept.append(run);
    if (end < text.size()) kept += text[end++];
    at = end;
  }
  return kept;
}

}  // namespace

std::vector<std::string> normalized_words(std::string_view answer) {
  std::u32string text = lowered_as_python(answer);
  std::erase_if(text, is_punctuation_of_python);
  std::vector<std::string> words;
  std::string word;
  for (const char32_t character : without_articles(text) + U' ') {
    if (!is_space_of_python(character)) {
      append_utf8(character, word);
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  return words;
}

}  // namespace bert
