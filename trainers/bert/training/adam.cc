// Adam and AdamW: the step over all parameters.
#include "training/adam.h"

#include <ATen/Functions.h>
#include <torch/version.h>

#include <cmath>
#include <map>
#include <stdexcept>
#include <tuple>

#include "training/half_copy.h"
#include "training/loops.h"
#include "training/pieces.h"

namespace bert {
namespace {

struct Corrections {
  double first = 1;  // 1 - beta1^t
  double second = 1;
};

Corrections corrections(const AdamOptions& options, std::int64_t steps) {
  if (!options.bias_correction) return {};
  const double t = static_cast<double>(steps);
  return {1 - std::pow(options.beta1, t), 1 - std::pow(options.beta2, t)};
}

}  // namespace

Adam::Adam(NamedTensors parameters, const AdamOptions& options)
    : Optimizer(std::move(parameters), options.loops), options_(options) {
  const auto is_share = [](double beta) { return beta >= 0 && beta < 1; };
  if (!is_share(options.beta1) || !is_share(options.beta2) || !(options.epsilon > 0) || !(options.weight_decay >= 0)) {
    throw std::runtime_error("Adam needs betas in [0, 1), a positive epsilon and a weight decay of 0 or more; found " +
                             std::to_string(options.beta1) + ", " + std::to_string(options.beta2) + ", " +
                             std::to_string(options.epsilon) + ", " + std::to_string(options.weight_decay) + ".");
  }
  for (Slot& slot : mutable_slots()) {
    slot.weight_decay = is_excluded(slot.name, options.no_decay) ? 0 : options.weight_decay;
  }
}

void Adam::update(const std::vector<Slot*>& active, const std::vector<at::Tensor>& gradients, double learning_rate,
                  double gradient_factor) {
  if (fused()) {
    update_fused(active, gradients, learning_rate, gradient_factor);
  } else {
    update_foreach(active, gradients, learning_rate, gradient_factor);
  }
}

void Adam::update_fused(const std::vector<Slot*>& active, const std::vector<at::Tensor>& gradients,
                        double learning_rate, double gradient_factor) {
  std::vector<Span> spans;
  std::vector<AdamFactors> factors;
  std::vector<std::int64_t> counts;
  for (std::size_t i = 0; i < active.size(); ++i) {
    const Slot& slot = *active[i];
    const Corrections corrected = corrections(options_, slot.steps);
    counts.push_back(slot.master.numel());
    spans.push_back({slot.master.data_ptr<float>(), slot.average.data_ptr<float>(),
                     slot.average_squared.data_ptr<float>(), gradients[i].data_ptr<float>(), 0});
    factors.push_back(
        {.beta1 = static_cast<float>(options_.beta1),
         .beta2 = static_cast<float>(options_.beta2),
         .share1 = static_cast<float>(1 - options_.beta1),
         .share2 = static_cast<float>(1 - options_.beta2),
         .gradient = static_cast<float>(gradient_factor),
         .coupled_decay = options_.decoupled_decay ? 0.0f : static_cast<float>(slot.weight_decay),
         .kept_weight = options_.decoupled_decay ? static_cast<float>(1 - learning_rate * slot.weight_decay) : 1.0f,
         .step_size = static_cast<float>(learning_rate / corrected.first),
         .root_correction = static_cast<float>(1 / std::sqrt(corrected.second)),
         .epsilon = static_cast<float>(options_.epsilon)});
  }
  for_each_piece(cut_into_pieces(counts), [&](const Piece& piece, std::size_t) {
    const Span& whole = spans[piece.tensor];
    adam_loop({whole.weights + piece.begin, whole.average + piece.begin, whole.average_squared + piece.begin,
               whole.gradients + piece.begin, piece.count},
              factors[piece.tensor]);
    round_to_parameter(*active[piece.tensor], piece.begin, piece.count);
  });
}

std::vector<Adam::Alike> Adam::alike(const std::vector<Slot*>& active, const std::vector<at::Tensor>& gradients) const {
  std::map<std::tuple<std::int64_t, double>, Alike> groups;
  for (std::size_t i = 0; i < active.size(); ++i) {
    Alike& group = groups[{active[i]->steps, active[i]->weight_decay}];
    group.steps = active[i]->steps;
    group.weight_decay = active[i]->weight_decay;
    group.weights.push_back(active[i]->master);
    group.averages.push_back(active[i]->average);
    group.squares.push_back(active[i]->average_squared);
    group.gradients.push_back(gradients[i]);
  }
  std::vector<Alike> all;
  for (auto& [factors, group] : groups) all.push_back(std::move(group));
  return all;
}

void Adam::update_foreach(const std::vector<Slot*>& active, const std::vector<at::Tensor>& gradients,
                          double learning_rate, double gradient_factor) {
  for (Alike& group : alike(active, gradients)) {
    if (update_in_one_pass(group, learning_rate, gradient_factor)) continue;
    update_by_operators(group, learning_rate, gradient_factor);
  }
  for (const Slot* slot : active) round_to_parameter(*slot);
}

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
bool Adam::update_in_one_pass(Alike& group, double learning_rate, double gradient_factor) const {
  if (!group.weights.front().is_cuda()) return false;
  // LibTorch's always corrects the bias; after this many steps nothing is left to correct.
  constexpr double kStepsWithoutBias = 1e9;
  const auto number = [&](double value) { return at::full({}, value, group.weights.front().options()); };
  const at::Tensor step = number(options_.bias_correction ? static_cast<double>(group.steps) : kStepsWithoutBias);
  const std::vector<at::Tensor> steps(group.weights.size(), step);
  // It would write the scaled gradients back: they are to stay as they are.
  if (gradient_factor != 1) group.gradients = at::_foreach_mul(group.gradients, gradient_factor);
  if (options_.decoupled_decay) {
    at::_fused_adamw_(group.weights, group.gradients, group.averages, group.squares, {}, steps, learning_rate,
                      options_.beta1, options_.beta2, group.weight_decay, options_.epsilon, false, false);
  } else {
    at::_fused_adam_(group.weights, group.gradients, group.averages, group.squares, {}, steps, learning_rate,
                     options_.beta1, options_.beta2, group.weight_decay, options_.epsilon, false, false);
  }
  return true;
}
#else
bool Adam::update_in_one_pass(Alike&, double, double) const {
  return false;
}
#endif

void Adam::update_by_operators(Alike& group, double learning_rate, double gradient_factor) const {
  auto& [weights, averages, squares, gradients, steps, decay] = group;
  if (gradient_factor != 1) gradients = at::_foreach_mul(gradients, gradient_factor);
  if (decay != 0 && options_.decoupled_decay) at::_foreach_mul_(weights, 1 - learning_rate * decay);
  if (decay != 0 && !options_.decoupled_decay) gradients = at::_foreach_add(gradients, weights, decay);
  at::_foreach_mul_(averages, options_.beta1);
  at::_foreach_add_(averages, gradients, 1 - options_.beta1);
  at::_foreach_mul_(squares, options_.beta2);
  at::_foreach_addcmul_(squares, gradients, gradients, 1 - options_.beta2);
  const Corrections corrected = corrections(options_, steps);
  std::vector<at::Tensor> divisors = at::_foreach_sqrt(squares);
  at::_foreach_div_(divisors, std::sqrt(corrected.second));
  at::_foreach_add_(divisors, options_.epsilon);
  at::_foreach_addcdiv_(weights, averages, divisors, -learning_rate / corrected.first);
}

}  // namespace bert
