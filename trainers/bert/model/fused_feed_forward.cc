// The feed forward part with its layer norm, as one operation.
#include <ATen/autocast_mode.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/version.h>

#include "model/fused_blocks.h"
#include "model/residual_norm.h"

namespace bert {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

kernels::Activate kernel_of(const at::Tensor& bias, kernels::Function function) {
  return {.function = function, .columns = static_cast<std::size_t>(bias.size(0)), .bias = bias.data_ptr<float>()};
}

// `out` may be `in`.
void activate(const at::Tensor& in, const at::Tensor& bias, kernels::Function function, at::Tensor& out) {
  const auto kernel = kernel_of(bias, function);
  const float* from = in.data_ptr<float>();
  float* to = out.data_ptr<float>();
  const std::int64_t width = in.size(1);
  for_row_chunks(in.size(0), [&](std::int64_t first, std::int64_t count, std::int64_t) {
    kernel.forward(from + first * width, to + first * width, static_cast<std::size_t>(count));
  });
}

struct ActivationGradients {
  at::Tensor out;  // not a gradient: what forward gave
  at::Tensor bias;
};

// `gradient` is that of the result and becomes that of `in`.
ActivationGradients activate_back(const at::Tensor& in, const at::Tensor& bias, kernels::Function function,
                                  at::Tensor& gradient) {
  at::Tensor out = at::empty_like(in);
  const std::int64_t width = in.size(1);
  const at::Tensor sums = at::zeros({kMaxChunks, width}, in.options());
  const auto kernel = kernel_of(bias, function);
  const float* from = in.data_ptr<float>();
  float* of_in = gradient.data_ptr<float>();
  float* to = out.data_ptr<float>();
  float* of_chunks = sums.data_ptr<float>();
  for_row_chunks(in.size(0), [&](std::int64_t first, std::int64_t count, std::int64_t chunk) {
    const std::int64_t at = first * width;
    kernel.backward(from + at, of_in + at, to + at, of_chunks + chunk * width, static_cast<std::size_t>(count));
  });
  return {out, sums.sum(0)};
}

struct Fed {
  at::Tensor intermediate, sum;
  Normalised normalised;
};

// `keep`: whether backward will want the intermediate values, which are overwritten otherwise.
Fed feed(const at::Tensor& hidden, const FeedForwardWeights& weights, std::uint64_t seed, bool keep) {
  Fed result;
  result.intermediate = at::mm(hidden, weights.weight.t());
  at::Tensor activated = keep ? at::empty_like(result.intermediate) : result.intermediate;
  activate(result.intermediate, weights.bias, weights.function, activated);
  result.sum = at::mm(activated, weights.output.weight.t());
  result.normalised = residual_norm(result.sum, hidden, weights.output, seed);
  return result;
}

struct FeedForwardFunction : torch::autograd::Function<FeedForwardFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& hidden, const at::Tensor& weight,
                            const at::Tensor& bias, const at::Tensor& output_weight, const at::Tensor& output_bias,
                            const at::Tensor& norm_weight, const at::Tensor& norm_bias,
                            const FeedForwardWeights& weights) {
    const std::uint64_t seed = dropout_seed(weights.output.dropout);
    const Fed done = feed(hidden, weights, seed, true);
    context->save_for_backward({hidden, weight, bias, output_weight, output_bias, norm_weight, norm_bias,
                                done.intermediate, done.sum, done.normalised.means, done.normalised.scales});
    context->saved_data["function"] = static_cast<std::int64_t>(weights.function);
    context->saved_data["dropout"] = weights.output.dropout;
    context->saved_data["epsilon"] = weights.output.epsilon;
    context->saved_data["seed"] = static_cast<std::int64_t>(seed);
    return done.normalised.out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& hidden = saved[0];
    const ResidualWeights output{saved[3],
                                 saved[4],
                                 saved[5],
                                 saved[6],
                                 context->saved_data["epsilon"].toDouble(),
                                 context->saved_data["dropout"].toDouble()};
    ResidualGradients of_output = residual_norm_back(gradients[0].contiguous(), saved[8], saved[9], saved[10], output,
                                                     static_cast<std::uint64_t>(context->saved_data["seed"].toInt()));
    at::Tensor of_intermediate = at::mm(of_output.in, output.weight);
    const auto function = static_cast<kernels::Function>(context->saved_data["function"].toInt());
    const ActivationGradients activated = activate_back(saved[7], saved[2], function, of_intermediate);
    variable_list result(8);
    if (saved[1].requires_grad()) result[1] = at::mm(of_intermediate.t(), hidden);
    result[2] = activated.bias;
    if (output.weight.requires_grad()) result[3] = at::mm(of_output.in.t(), activated.out);
    result[4] = of_output.bias;
    result[5] = of_output.norm_weight;
    result[6] = of_output.norm_bias;
    // Last, as in attention.
    if (hidden.requires_grad()) result[0] = of_output.residual.addmm_(of_intermediate, saved[1]);
    return result;
  }
};

bool in_autocast() {
#if TORCH_VERSION_MAJOR >= 2 && TORCH_VERSION_MINOR >= 4
  return at::autocast::is_autocast_enabled(at::kCPU);
#else
  return at::autocast::is_cpu_enabled();
#endif
}

}  // namespace

bool can_fuse(const at::Tensor& hidden) {
  return hidden.device().is_cpu() && hidden.scalar_type() == at::kFloat && !in_autocast();
}

at::Tensor feed_forward_block(const at::Tensor& hidden, const FeedForwardWeights& weights) {
  if (!at::GradMode::is_enabled()) {
    return feed(hidden.contiguous(), weights, dropout_seed(weights.output.dropout), false).normalised.out;
  }
  const ResidualWeights& output = weights.output;
  return FeedForwardFunction::apply(hidden.contiguous(), weights.weight, weights.bias, output.weight, output.bias,
                                    output.norm_weight, output.norm_bias, weights);
}

}  // namespace bert
