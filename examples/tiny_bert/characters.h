// What BERT's basic tokenizer has to know of Unicode.
#pragma once

#include <string>
#include <string_view>

namespace tiny_bert {

// A byte that is no UTF-8 becomes U+FFFD.
std::u32string to_utf32(std::string_view utf8);
void append_utf8(char32_t character, std::string& text);

bool is_space(char32_t character);
bool is_control(char32_t character);  // tab and ends of lines are spaces
// By ASCII also what Unicode calls symbols: "$", "+", "<", "^", "`", "|", "~".
bool is_punctuation(char32_t character);
bool is_ideograph(char32_t character);  // of Chinese, whose words have no spaces between them

// Appends the character in lower case and without accents: nothing for an accent, several letters for some. A word's
// last sigma becomes an ordinary one.
void append_folded(char32_t character, std::u32string& text);

}  // namespace tiny_bert
