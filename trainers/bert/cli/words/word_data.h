// Masked windows as a batch of tensors, and what a model says of them.
#pragma once

#include <cstdint>
#include <vector>

#include "model/heads.h"
#include "words/masking.h"

namespace bert {

struct WordBatch {
  Inputs inputs;      // [B, T] each
  at::Tensor places;  // int64 [N]: of the pieces that are asked for, in B·T
  at::Tensor asked;   // int64 [N]: what stood there
  at::Tensor shares;  // float32 [N]: 1 / how many are asked for of the same window
};

WordBatch make_word_batch(const std::vector<MaskedPieces>& windows, std::int32_t padding, at::Device device);

struct WordAnswers {
  at::Tensor loss;  // float32, with its graph: over windows, the sum of the means over the pieces that are asked for
  at::Tensor hits;  // int64: how many of the N are right
};

WordAnswers answer_words(BertForMaskedWords& model, const WordBatch& batch, bool skip_padding);

}  // namespace bert
