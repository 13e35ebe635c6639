// Masks pieces of a sequence, which the model is to guess.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "text/vocabulary.h"

namespace tiny_bert {

using bert::Vocabulary;

inline constexpr std::int64_t kNotAsked = -100;  // what cross entropy passes over

struct MaskedPieces {
  std::vector<std::int64_t> input;
  std::vector<std::int64_t> answers;  // what was there where the model is asked, else kNotAsked
};

// As BERT's: 15 % of the pieces that are not special, at least one, are asked for; of these 80 % are replaced by
// [MASK], 10 % by a piece drawn at random, and 10 % are left. The same seed draws the same.
class Masker {
 public:
  Masker(const Vocabulary& vocabulary, std::uint64_t seed);
  MaskedPieces mask(const std::vector<std::int64_t>& pieces);

 private:
  std::size_t below(std::size_t count);  // a number drawn from [0, count)
  std::int64_t replacement_of(std::int64_t piece);

  const Vocabulary& vocabulary_;
  std::vector<std::int64_t> ordinary_;
  std::mt19937_64 random_;
};

}  // namespace tiny_bert
