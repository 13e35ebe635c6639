// A vocabulary learnt from texts, for who has none, or cut down to them.
#pragma once

#include <string>
#include <vector>

#include "text/vocabulary.h"

namespace tiny_bert {

using bert::Vocabulary;

// The special pieces, each character, and then, until there are `size` pieces, what comes of joining the pair of
// neighbours that is most frequent within words (Sennrich et al. 2016, https://arxiv.org/abs/1508.07909).
Vocabulary learn_vocabulary(const std::vector<std::string>& texts, std::size_t size);

// The special pieces, each character of `texts` that the vocabulary has as a piece, and those that are most frequent in
// them: `size` in all, or less when there are not so many. In the order of the vocabulary.
Vocabulary most_frequent(const Vocabulary& vocabulary, const std::vector<std::string>& texts, std::size_t size);

}  // namespace tiny_bert
