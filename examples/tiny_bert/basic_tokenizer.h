// The first half of BERT's tokenizer: a text into words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tiny_bert {

// In lower case and without accents; a mark of punctuation and a Chinese character is a word of its own; control
// characters are left out. As BasicTokenizer(do_lower_case=True) of BERT's own tokenization.py.
std::vector<std::string> basic_words(std::string_view utf8);

}  // namespace tiny_bert
