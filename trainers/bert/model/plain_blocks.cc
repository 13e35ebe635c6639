// The blocks of a layer by LibTorch's operations alone.
#include "model/plain_blocks.h"

#include <cmath>

#include <torch/nn/functional/normalization.h>
#include <torch/types.h>
#include <torch/version.h>

namespace bert {
namespace {

at::Tensor map_and_norm(const at::Tensor& in, const at::Tensor& residual, const ResidualWeights& weights) {
  at::Tensor mapped = at::linear(in, weights.weight, weights.bias);
  if (weights.dropout > 0) mapped = at::dropout(mapped, weights.dropout, true);
  return at::layer_norm(mapped + residual, {residual.size(-1)}, weights.norm_weight, weights.norm_bias,
                        weights.epsilon);
}

// Query, key and value, [B, h, T, d] each, by one product.
std::vector<at::Tensor> project(const at::Tensor& hidden, const AttentionWeights& weights) {
  const at::Tensor weight = at::cat({weights.query_weight, weights.key_weight, weights.value_weight});
  const at::Tensor bias = at::cat({weights.query_bias, weights.key_bias, weights.value_bias});
  const at::Tensor all = at::linear(hidden, weight, bias);
  const at::Tensor by_head =
      all.view({hidden.size(0), hidden.size(1), 3, weights.heads, hidden.size(2) / weights.heads});
  return by_head.permute({2, 0, 3, 1, 4}).unbind(0);
}

at::Tensor attend_plainly(const std::vector<at::Tensor>& parts, const AttentionWeights& weights, const at::Tensor& mask,
                          AttentionSeen* seen) {
  const double scale = 1 / std::sqrt(static_cast<double>(parts[0].size(3)));
  at::Tensor scores = at::matmul(parts[0] * scale, parts[1].transpose(2, 3));
  if (mask.defined()) scores = scores + mask.to(scores.scalar_type());
  at::Tensor probabilities = at::softmax(scores, -1);
  if (seen != nullptr) *seen = {parts[0], parts[1], probabilities};
  if (weights.dropout > 0) probabilities = at::dropout(probabilities, weights.dropout, true);
  return at::matmul(probabilities, parts[2]);
}

}  // namespace

at::Tensor plain_attention_block(const at::Tensor& hidden, const AttentionWeights& weights, const at::Tensor& mask,
                                 AttentionSeen* seen) {
  const std::vector<at::Tensor> parts = project(hidden, weights);
  at::Tensor context;
#if TORCH_VERSION_MAJOR >= 2
  if (seen == nullptr) {
    context = mask.defined()
                  ? at::scaled_dot_product_attention(
                        parts[0], parts[1], parts[2],
                        mask.to(parts[0].scalar_type()).expand({-1, -1, hidden.size(1), -1}), weights.dropout)
                  : at::scaled_dot_product_attention(parts[0], parts[1], parts[2], {}, weights.dropout);
  }
#endif
  if (!context.defined()) context = attend_plainly(parts, weights, mask, seen);
  return map_and_norm(context.transpose(1, 2).reshape(hidden.sizes()), hidden, weights.output);
}

at::Tensor activate(const at::Tensor& in, kernels::Function function) {
  switch (function) {
    case kernels::Function::kGelu: return at::gelu(in);
    case kernels::Function::kGeluTanh: return at::gelu(in, "tanh");
    case kernels::Function::kRelu: return at::relu(in);
  }
  return in;
}

at::Tensor plain_feed_forward_block(const at::Tensor& hidden, const FeedForwardWeights& weights) {
  const at::Tensor inner = activate(at::linear(hidden, weights.weight, weights.bias), weights.function);
  return map_and_norm(inner, hidden, weights.output);
}

}  // namespace bert
