// A vocabulary learnt from texts, for who has none.
#pragma once

#include <string>
#include <vector>

#include "vocabulary.h"

namespace tiny_bert {

// The special pieces, each character, and then, until there are `size` pieces, what comes of joining the pair of
// neighbours that is most frequent within words (Sennrich et al. 2016, https://arxiv.org/abs/1508.07909).
Vocabulary learn_vocabulary(const std::vector<std::string>& texts, std::size_t size);

}  // namespace tiny_bert
