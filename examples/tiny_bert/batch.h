// Batch: sequences with masked pieces, as tensors.
#pragma once

#include <vector>

#include <torch/types.h>

#include "corpus.h"
#include "masking.h"

namespace tiny_bert {

struct Batch {
  torch::Tensor pieces;    // int64, [B, T], masked
  torch::Tensor segments;  // int64, [B, T]
  torch::Tensor asked;     // int64, [N]: places in B·T that the model is asked for
  torch::Tensor answers;   // int64, [N]: the pieces that were there
};

// All sequences have the same length.
Batch make_batch(const std::vector<const Sequence*>& sequences, Masker& masker);

}  // namespace tiny_bert
