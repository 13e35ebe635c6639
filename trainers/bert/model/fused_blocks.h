// The two blocks of a layer as one operation each, for float32 on the CPU: attention with its output, and the feed
// forward part, both up to and with their layer norm. They compute what plain_blocks.h computes, in fewer passes over
// memory, and without matrices of probabilities and dropout masks in it.
#pragma once

#include <ATen/core/Tensor.h>

#include "model/kernels.h"
#include "model/rows.h"

namespace bert {

// A linear map, added to what goes in, and normalised. Weights as torch::nn::Linear has them.
struct ResidualWeights {
  at::Tensor weight;                  // [H, in]
  at::Tensor bias;                    // [H]
  at::Tensor norm_weight, norm_bias;  // [H]
  double epsilon = 1e-12;
  double dropout = 0;  // of the map's result; 0 in evaluation
};

struct AttentionWeights {
  at::Tensor query_weight, key_weight, value_weight;  // [H, H] each
  at::Tensor query_bias, key_bias, value_bias;        // [H] each
  at::Tensor fused_weight, fused_bias;                // [3H, H] and [3H], of which the former are parts
  ResidualWeights output;
  std::int64_t heads = 1;
  double dropout = 0;  // of the probabilities; 0 in evaluation
};

struct FeedForwardWeights {
  at::Tensor weight;  // [I, H]
  at::Tensor bias;    // [I]
  ResidualWeights output;
  kernels::Function function = kernels::Function::kGelu;
};

// Whether the fused blocks take `hidden`: float32 on the CPU, outside of autocast.
bool can_fuse(const at::Tensor& hidden);

// `hidden` [rows, H] to [rows, H]. Differentiable once, in `hidden` and in all weights. Dropout takes its seed from
// LibTorch's generator of the CPU, and the same seed gives the same bits. Any thread.
at::Tensor attention_block(const at::Tensor& hidden, const AttentionWeights& weights, const Rows& rows);
at::Tensor feed_forward_block(const at::Tensor& hidden, const FeedForwardWeights& weights);

}  // namespace bert
