// The blocks of a layer by LibTorch's operations alone: for any device and dtype, under autocast, and where what
// attention did is wanted.
#pragma once

#include <ATen/core/Tensor.h>

#include "model/fused_blocks.h"

namespace bert {

// What one head after the other did. B items of T tokens, h heads of d numbers.
struct AttentionSeen {
  at::Tensor query;          // [B, h, T, d]
  at::Tensor key;            // [B, h, T, d]
  at::Tensor probabilities;  // [B, h, T, T]: softmax(query keyᵀ / √d), without dropout
};

// `mask`: float [B, 1, 1, T], which is added to scores; undefined: all tokens are attended to. `hidden`: [B, T, H].
// Fills `seen` when there is one.
at::Tensor plain_attention_block(const at::Tensor& hidden, const AttentionWeights& weights, const at::Tensor& mask,
                                 AttentionSeen* seen);
// `hidden`: [..., H].
at::Tensor plain_feed_forward_block(const at::Tensor& hidden, const FeedForwardWeights& weights);

// The same on a GPU of tokens that are no padding alone, by LibTorch's attention over items of different lengths:
// `hidden` [rows, H] of `rows` that skip padding. Whether it takes heads of `head_size` of a model with this `weight`.
bool can_pack(const at::Tensor& weight, std::int64_t head_size);
at::Tensor packed_attention_block(const at::Tensor& hidden, const AttentionWeights& weights, const Rows& rows);

at::Tensor activate(const at::Tensor& in, kernels::Function function);

}  // namespace bert
