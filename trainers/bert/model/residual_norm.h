// The end of a block, forward and backward: what the last map gives, plus bias and residual, normalised.
#pragma once

#include <cstdint>
#include <functional>

#include <ATen/core/Tensor.h>

#include "model/fused_blocks.h"

namespace bert {

// A seed from LibTorch's generator of the CPU, when there is something to drop; else 0.
std::uint64_t dropout_seed(double probability);

// Runs body(first, count, chunk) for chunks of rows on LibTorch's threads. The chunks depend on the number of rows
// alone, so that sums over them do too.
constexpr std::int64_t kMaxChunks = 16;
void for_row_chunks(std::int64_t rows, const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& body);

struct Normalised {
  at::Tensor out;            // [rows, H]
  at::Tensor means, scales;  // [rows]
};

// `in` [rows, H] becomes the sum that is normalised.
Normalised residual_norm(at::Tensor& in, const at::Tensor& residual, const ResidualWeights& weights,
                         std::uint64_t seed);

struct ResidualGradients {
  at::Tensor residual;  // [rows, H]
  at::Tensor in;        // [rows, H]: the same tensor as `residual` without dropout
  at::Tensor bias, norm_weight, norm_bias;
};

// `sum`, `means` and `scales` are residual_norm()'s.
ResidualGradients residual_norm_back(const at::Tensor& gradient, const at::Tensor& sum, const at::Tensor& means,
                                     const at::Tensor& scales, const ResidualWeights& weights, std::uint64_t seed);

}  // namespace bert
