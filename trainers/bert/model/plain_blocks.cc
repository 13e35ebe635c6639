// The blocks of a layer by LibTorch's operations alone.
#include "model/plain_blocks.h"

#include <cmath>
#include <stdexcept>

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

// Query, key and value of each token, by one product: [..., 3, h, d].
at::Tensor project(const at::Tensor& hidden, const AttentionWeights& weights) {
  const at::Tensor weight = at::cat({weights.query_weight, weights.key_weight, weights.value_weight});
  const at::Tensor bias = at::cat({weights.query_bias, weights.key_bias, weights.value_bias});
  return at::linear(hidden, weight, bias).unflatten(-1, {3, weights.heads, hidden.size(-1) / weights.heads});
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
  const std::vector<at::Tensor> parts = project(hidden, weights).permute({2, 0, 3, 1, 4}).unbind(0);
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

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 5)
bool can_pack(const at::Tensor& weight, std::int64_t head_size) {
  return weight.is_cuda() && head_size % 8 == 0;
}

at::Tensor packed_attention_block(const at::Tensor& hidden, const AttentionWeights& weights, const Rows& rows) {
  const std::vector<at::Tensor> parts = project(hidden, weights).unbind(1);  // [rows, h, d] each
  const at::Tensor& starts = rows.device_starts;
  at::Tensor context;
  if (parts[0].scalar_type() == at::kFloat) {
    const auto one_item = [&](std::size_t part) { return parts[part].unsqueeze(0); };
    context = std::get<0>(at::_efficient_attention_forward(one_item(0), one_item(1), one_item(2), /*bias=*/{}, starts,
                                                           starts, rows.max_rows, rows.max_rows, weights.dropout,
                                                           /*custom_mask_type=*/0, at::GradMode::is_enabled()));
  } else {
    context = std::get<0>(at::_flash_attention_forward(parts[0], parts[1], parts[2], starts, starts, rows.max_rows,
                                                       rows.max_rows, weights.dropout, /*is_causal=*/false,
                                                       /*return_debug_mask=*/false));
  }
  return map_and_norm(context.reshape(hidden.sizes()), hidden, weights.output);
}
#else
bool can_pack(const at::Tensor&, std::int64_t) {
  return false;
}

at::Tensor packed_attention_block(const at::Tensor&, const AttentionWeights&, const Rows&) {
  throw std::logic_error("attention over items of different lengths came with LibTorch 2.5");
}
#endif

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
