// The part of a step that all optimizers share.
#include "training/optimizer.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace bert {
namespace {

// Else the step would move numbers that the model does not compute with any more.
void check_storage(const Slot& slot) {
  const bool is_copy = slot.parameter.scalar_type() != at::kFloat;
  if (is_copy || slot.master.data_ptr() == slot.parameter.data_ptr()) return;
  throw std::runtime_error("Parameter " + slot.name +
                           ": it was given another storage after the optimizer was made, as Module::to does. Make the "
                           "optimizer after that.");
}

// As the loops want it: dense, contiguous float32 on the parameter's device.
at::Tensor prepared_gradient(const Slot& slot) {
  at::Tensor gradient = slot.parameter.grad();
  if (gradient.sizes() != slot.parameter.sizes() || gradient.device() != slot.parameter.device()) {
    throw std::runtime_error(
        "Parameter " + slot.name +
        ": its gradient has another shape or is on another device; what writes gradients must keep "
        "both.");
  }
  if (gradient.is_sparse()) gradient = gradient.to_dense();
  return gradient.to(at::kFloat).contiguous();
}

}  // namespace

bool is_excluded(const std::string& name, const std::vector<std::string>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return name.find(pattern) != std::string::npos; });
}

const std::vector<std::string>& bert_exclusions() {
  static const std::vector<std::string> patterns{"bias", "LayerNorm", "layer_norm"};
  return patterns;
}

Optimizer::Optimizer(NamedTensors parameters, StepLoops loops) {
  check_parameters(parameters);
  const at::NoGradGuard no_grad;
  const bool on_cpu = parameters.empty() || parameters.front().second.is_cpu();
  if (loops == StepLoops::kFused && !on_cpu) {
    throw std::runtime_error("Fused loops are for parameters on a CPU; these are on " +
                             parameters.front().second.device().str() + ". Take StepLoops::kAuto.");
  }
  fused_ = on_cpu && loops != StepLoops::kForeach;
  for (auto& [name, parameter] : parameters) {
    const at::Tensor values = parameter.detach();
    Slot slot{.name = name, .parameter = parameter};
    slot.master = values.scalar_type() == at::kFloat ? values : values.to(at::kFloat);
    slot.average = at::zeros_like(slot.master);
    slot.average_squared = at::zeros_like(slot.master);
    slots_.push_back(std::move(slot));
  }
}

void Optimizer::step(double learning_rate, double gradient_factor) {
  if (!std::isfinite(learning_rate) || !std::isfinite(gradient_factor)) {
    throw std::runtime_error("A step needs a finite learning rate and gradient factor, found " +
                             std::to_string(learning_rate) + " and " + std::to_string(gradient_factor) +
                             ". Skip the step where gradients are not finite.");
  }
  const at::NoGradGuard no_grad;
  std::vector<Slot*> active;
  std::vector<at::Tensor> gradients;
  for (Slot& slot : slots_) {
    if (!slot.parameter.grad().defined()) continue;
    check_storage(slot);
    gradients.push_back(prepared_gradient(slot));
    active.push_back(&slot);
  }
  for (Slot* slot : active) ++slot->steps;
  if (!active.empty()) update(active, gradients, learning_rate, gradient_factor);
}

void Optimizer::zero_grad() {
  for (Slot& slot : slots_) slot.parameter.mutable_grad() = at::Tensor();
}

NamedTensors Optimizer::state() const {
  NamedTensors state;
  for (const Slot& slot : slots_) {
    state.emplace_back("exp_avg." + slot.name, slot.average);
    state.emplace_back("exp_avg_sq." + slot.name, slot.average_squared);
    state.emplace_back("step." + slot.name, at::scalar_tensor(slot.steps, at::kLong));
    if (slot.parameter.scalar_type() != at::kFloat) state.emplace_back("master." + slot.name, slot.master);
  }
  return state;
}

void Optimizer::load_state(const NamedTensors& stored) {
  const NamedTensors target = state();
  copy_by_name(stored, target, "The optimizer's state");
  for (const auto& [name, tensor] : target) {
    if (name.rfind("step.", 0) != 0) continue;
    const auto slot = std::find_if(slots_.begin(), slots_.end(),
                                   [&name = name](const Slot& each) { return "step." + each.name == name; });
    slot->steps = std::max<std::int64_t>(0, tensor.item<std::int64_t>());
  }
}

}  // namespace bert
