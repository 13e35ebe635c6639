// LAMB's step of LibTorch's operators, for parameters on an accelerator: nothing waits for a number from it.
#include <ATen/Functions.h>

#include <cmath>

#include "training/half_copy.h"
#include "training/lamb.h"

namespace bert {

at::Tensor Lamb::ratio_on_device(const Slot& slot, const at::Tensor& weight_norm, const at::Tensor& update_norm) const {
  const at::Tensor one = at::ones_like(weight_norm);
  if (!slot.adapts) return one;
  const at::Tensor clamped = at::clamp(weight_norm, options_.min_weight_norm, options_.max_weight_norm);
  const at::Tensor used = at::clamp_max(clamped / update_norm, options_.max_trust);
  return at::where((weight_norm > 0).logical_and(update_norm > 0), used, one);
}

void Lamb::update_foreach(const std::vector<Slot*>& active, const std::vector<at::Tensor>& gradients,
                          double learning_rate, double gradient_factor) {
  std::vector<at::Tensor> weights, averages, squares;
  for (const Slot* slot : active) {
    weights.push_back(slot->master);
    averages.push_back(slot->average);
    squares.push_back(slot->average_squared);
  }
  const std::vector<at::Tensor> scaled =
      gradient_factor == 1 ? gradients : at::_foreach_mul(gradients, gradient_factor);
  at::_foreach_mul_(averages, options_.beta1);
  at::_foreach_add_(averages, scaled, options_.gradient_averaging ? 1 - options_.beta1 : 1.0);
  at::_foreach_mul_(squares, options_.beta2);
  at::_foreach_addcmul_(squares, scaled, scaled, 1 - options_.beta2);

  std::vector<at::Scalar> first, root;
  for (const Slot* slot : active) {
    const double t = static_cast<double>(slot->steps);
    first.emplace_back(options_.bias_correction ? 1 - std::pow(options_.beta1, t) : 1.0);
    root.emplace_back(options_.bias_correction ? std::sqrt(1 - std::pow(options_.beta2, t)) : 1.0);
  }
  std::vector<at::Tensor> divisors = at::_foreach_sqrt(squares);
  at::_foreach_div_(divisors, root);
  at::_foreach_add_(divisors, options_.epsilon);
  std::vector<at::Tensor> updates = at::_foreach_div(averages, first);
  at::_foreach_div_(updates, divisors);
  for (std::size_t i = 0; i < active.size(); ++i) {
    if (active[i]->weight_decay != 0) updates[i].add_(weights[i], active[i]->weight_decay);
  }

  const std::vector<at::Tensor> weight_norms = at::_foreach_norm(weights, 2);
  const std::vector<at::Tensor> update_norms = at::_foreach_norm(updates, 2);
  std::vector<at::Tensor> told;
  moved_.clear();
  for (std::size_t i = 0; i < active.size(); ++i) {
    const at::Tensor ratio = ratio_on_device(*active[i], weight_norms[i], update_norms[i]);
    weights[i].sub_(updates[i].mul_(ratio), learning_rate);
    round_to_parameter(*active[i]);
    told.push_back(at::stack({weight_norms[i], update_norms[i], ratio}));
    moved_.push_back(active[i]->name);
  }
  trust_on_device_ = at::stack(told);
}

std::vector<LayerTrust> Lamb::trust() const {
  if (!trust_on_device_.defined()) return trust_;
  const at::Tensor numbers = trust_on_device_.to(at::kCPU, at::kDouble).contiguous();
  std::vector<LayerTrust> trust;
  for (std::size_t i = 0; i < moved_.size(); ++i) {
    const double* row = numbers.data_ptr<double>() + 3 * i;
    trust.push_back({moved_[i], row[0], row[1], row[2]});
  }
  return trust;
}

}  // namespace bert
