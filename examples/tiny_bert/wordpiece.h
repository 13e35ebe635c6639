// The second half of BERT's tokenizer: words into pieces of a vocabulary.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "vocabulary.h"

namespace tiny_bert {

// The longest piece that a word begins with, then the longest that what is left begins with, and so on. A word that
// cannot be written so, or has more than 200 characters, is [UNK].
std::vector<std::int64_t> wordpieces(const Vocabulary& vocabulary, std::string_view text);

}  // namespace tiny_bert
