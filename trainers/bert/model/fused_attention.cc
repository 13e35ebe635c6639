// Attention with its output and layer norm, as one operation.
#include <algorithm>

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <torch/csrc/autograd/custom_function.h>

#include "model/fused_blocks.h"
#include "model/residual_norm.h"

namespace bert {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Attention over all heads of all items, each on one thread.
class Heads {
 public:
  Heads(const Rows& rows, const at::Tensor& bias, std::int64_t heads, double dropout, std::uint64_t seed)
      : rows_(rows), heads_(heads), hidden_(bias.size(0) / 3) {
    kernel_ = {.head_size = static_cast<std::size_t>(hidden_ / heads),
               .hidden = static_cast<std::size_t>(hidden_),
               .bias = bias.data_ptr<float>(),
               .dropout = kernels::Dropout::with(dropout, seed)};
  }

  // Gives the context [rows, H]. `logs`: [heads, rows].
  at::Tensor forward(const at::Tensor& projected, at::Tensor& logs) const {
    at::Tensor context = at::empty({projected.size(0), hidden_}, projected.options());
    const float* in = projected.data_ptr<float>();
    float* out = context.data_ptr<float>();
    float* all_logs = logs.data_ptr<float>();
    const std::int64_t count = projected.size(0);
    for_all([&](std::int64_t, const kernels::Attention::Item& item, void* scratch) {
      kernel_.forward(item, in, out, all_logs + item.head * count + item.first_row, scratch);
    });
    return context;
  }

  // Gives the gradients of `projected` [rows, 3H] and of the bias [3H].
  std::pair<at::Tensor, at::Tensor> backward(const at::Tensor& projected, const at::Tensor& context,
                                             const at::Tensor& logs, const at::Tensor& gradient) const {
    at::Tensor of_projected = at::empty_like(projected);
    const at::Tensor of_bias = at::empty({rows_.items(), 3 * hidden_}, projected.options());
    const float* in = projected.data_ptr<float>();
    const float* all_logs = logs.data_ptr<float>();
    const std::int64_t count = projected.size(0);
    for_all([&](std::int64_t index, const kernels::Attention::Item& item, void* scratch) {
      kernel_.backward(item, in, context.data_ptr<float>(), all_logs + item.head * count + item.first_row,
                       gradient.data_ptr<float>(), of_projected.data_ptr<float>(),
                       of_bias.data_ptr<float>() + index * 3 * hidden_, scratch);
    });
    return {of_projected, of_bias.sum(0)};
  }

 private:
  kernels::Attention::Item item_of(std::int64_t index, std::int64_t head) const {
    const std::int64_t* starts = rows_.item_starts.data_ptr<std::int64_t>() + index;
    const std::int64_t* key_starts = rows_.key_starts.data_ptr<std::int64_t>() + index;
    return {.head = static_cast<std::size_t>(head),
            .first_row = static_cast<std::size_t>(starts[0]),
            .rows = static_cast<std::size_t>(starts[1] - starts[0]),
            .keys = rows_.keys.data_ptr<std::int64_t>() + key_starts[0],
            .key_count = static_cast<std::size_t>(key_starts[1] - key_starts[0]),
            .first_probability_row = static_cast<std::uint64_t>(starts[0] * heads_ + head * (starts[1] - starts[0]))};
  }

  template <class Body>
  void for_all(Body body) const {
    const auto max_rows = static_cast<std::size_t>(rows_.max_rows);
    const std::size_t scratch_bytes = kernel_.scratch_bytes(max_rows, max_rows);
    at::parallel_for(0, rows_.items() * heads_, 1, [&](std::int64_t begin, std::int64_t end) {
      const at::Tensor scratch = at::empty({static_cast<std::int64_t>(scratch_bytes)}, at::kByte);
      for (std::int64_t i = begin; i < end; ++i) body(i / heads_, item_of(i / heads_, i % heads_), scratch.data_ptr());
    });
  }

  const Rows& rows_;
  std::int64_t heads_;
  std::int64_t hidden_;
  kernels::Attention kernel_;
};

struct Seeds {
  std::uint64_t of_probabilities;
  std::uint64_t of_output;
};

struct Attended {
  at::Tensor projected, context, logs, sum;
  Normalised normalised;
};

Attended attend(const at::Tensor& hidden, const AttentionWeights& weights, const Rows& rows, const Seeds& seeds) {
  Attended result;
  result.projected = at::mm(hidden, weights.fused_weight.t());
  result.logs = at::empty({weights.heads, hidden.size(0)}, hidden.options());
  const Heads heads(rows, weights.fused_bias, weights.heads, weights.dropout, seeds.of_probabilities);
  result.context = heads.forward(result.projected, result.logs);
  result.sum = at::mm(result.context, weights.output.weight.t());
  result.normalised = residual_norm(result.sum, hidden, weights.output, seeds.of_output);
  return result;
}

// The gradient of a part of the fused weight or bias, for a parameter that wants one.
at::Tensor part_of(const at::Tensor& gradient, const at::Tensor& parameter, std::int64_t which) {
  if (!parameter.requires_grad()) return {};
  return gradient.narrow(0, which * parameter.size(0), parameter.size(0));
}

struct AttentionFunction : torch::autograd::Function<AttentionFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& hidden, const at::Tensor& query_weight,
                            const at::Tensor& key_weight, const at::Tensor& value_weight, const at::Tensor& query_bias,
                            const at::Tensor& key_bias, const at::Tensor& value_bias, const at::Tensor& output_weight,
                            const at::Tensor& output_bias, const at::Tensor& norm_weight, const at::Tensor& norm_bias,
                            const AttentionWeights& weights, const Rows& rows) {
    const Seeds seeds{dropout_seed(weights.dropout), dropout_seed(weights.output.dropout)};
    const Attended done = attend(hidden, weights, rows, seeds);
    context->save_for_backward({hidden,
                                query_weight,
                                key_weight,
                                value_weight,
                                query_bias,
                                key_bias,
                                value_bias,
                                output_weight,
                                output_bias,
                                norm_weight,
                                norm_bias,
                                weights.fused_weight,
                                weights.fused_bias,
                                done.projected,
                                done.context,
                                done.logs,
                                done.sum,
                                done.normalised.means,
                                done.normalised.scales,
                                rows.item_starts,
                                rows.key_starts,
                                rows.keys});
    context->saved_data["heads"] = weights.heads;
    context->saved_data["max_rows"] = rows.max_rows;
    context->saved_data["dropout"] = weights.dropout;
    context->saved_data["output_dropout"] = weights.output.dropout;
    context->saved_data["epsilon"] = weights.output.epsilon;
    context->saved_data["seed"] = static_cast<std::int64_t>(seeds.of_probabilities);
    context->saved_data["output_seed"] = static_cast<std::int64_t>(seeds.of_output);
    return done.normalised.out;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const auto number = [&](const char* name) { return context->saved_data[name].toDouble(); };
    const auto seed = [&](const char* name) { return static_cast<std::uint64_t>(context->saved_data[name].toInt()); };
    const at::Tensor& hidden = saved[0];
    const ResidualWeights output{saved[7], saved[8], saved[9], saved[10], number("epsilon"), number("output_dropout")};
    ResidualGradients of_output =
        residual_norm_back(gradients[0].contiguous(), saved[16], saved[17], saved[18], output, seed("output_seed"));
    const at::Tensor& attended = saved[14];
    const Rows rows{.item_starts = saved[19],
                    .key_starts = saved[20],
                    .keys = saved[21],
                    .max_rows = context->saved_data["max_rows"].toInt()};
    const Heads heads(rows, saved[12], context->saved_data["heads"].toInt(), number("dropout"), seed("seed"));
    const auto [of_projected, of_bias] =
        heads.backward(saved[13], attended, saved[15], at::mm(of_output.in, output.weight));
    variable_list result(13);
    const bool any_weight = saved[1].requires_grad() || saved[2].requires_grad() || saved[3].requires_grad();
    const at::Tensor of_weight = any_weight ? at::mm(of_projected.t(), hidden) : at::Tensor();
    for (std::int64_t which = 0; which < 3; ++which) {
      result[1 + which] = part_of(of_weight, saved[1 + which], which);
      result[4 + which] = part_of(of_bias, saved[4 + which], which);
    }
    if (output.weight.requires_grad()) result[7] = at::mm(of_output.in.t(), attended);
    result[8] = of_output.bias;
    result[9] = of_output.norm_weight;
    result[10] = of_output.norm_bias;
    // Last, since it may overwrite what was read above: without dropout both gradients are one tensor.
    if (hidden.requires_grad()) result[0] = of_output.residual.addmm_(of_projected, saved[11]);
    return result;
  }
};

}  // namespace

at::Tensor attention_block(const at::Tensor& hidden, const AttentionWeights& weights, const Rows& rows) {
  if (!at::GradMode::is_enabled()) {
    const Seeds seeds{dropout_seed(weights.dropout), dropout_seed(weights.output.dropout)};
    return attend(hidden.contiguous(), weights, rows, seeds).normalised.out;
  }
  const ResidualWeights& output = weights.output;
  return AttentionFunction::apply(hidden.contiguous(), weights.query_weight, weights.key_weight, weights.value_weight,
                                  weights.query_bias, weights.key_bias, weights.value_bias, output.weight, output.bias,
                                  output.norm_weight, output.norm_bias, weights, rows);
}

}  // namespace bert
