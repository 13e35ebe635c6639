// Which words are masked, for a model that is to say what they were (Devlin et al. 2018, section 3.1).
#pragma once

#include <cstdint>
#include <vector>

#include "text/vocabulary.h"
#include "words/documents.h"

namespace bert {

struct MaskedPieces {
  Pieces pieces;                    // what the model reads
  std::vector<std::size_t> places;  // of the pieces that it is asked for, rising
  Pieces asked;                     // what stood there
};

// As BERT's own code masks: of each window 15 % of its pieces, rounded and at least one, are asked for; 80 % of these
// are [MASK] then, 10 % any piece of the vocabulary, 10 % stay as they are. [CLS], [SEP] and [PAD] are never asked for;
// of a window of nothing else no piece is.
//
// The same numbers give the same masks on every machine, whatever batch or rank a window is in. `round` tells the times
// apart that a window is read: an epoch, say.
MaskedPieces mask_pieces(const Pieces& window, const Vocabulary& vocabulary, std::uint64_t seed, std::uint64_t round,
                         std::uint64_t window_number);

}  // namespace bert
