// KnownOptimizers: parameters by weak reference.
#include "known_optimizers.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "tensor_bridge.h"

namespace trainwarden::torch {
namespace {

std::size_t count_parameters(const ::torch::optim::Optimizer& optimizer) {
  std::size_t count = 0;
  for (const auto& group : optimizer.param_groups()) count += group.params().size();
  return count;
}

}  // namespace

void KnownOptimizers::add(const ::torch::optim::Optimizer& optimizer) {
  read(optimizer, optimizers_[&optimizer]);
  cycle_.add(&optimizer);
}

const ParameterSet& KnownOptimizers::parameters_of(const ::torch::optim::Optimizer& optimizer) {
  Known& known = optimizers_[&optimizer];
  // Parameters may have been put into a group that it had already.
  if (known.tensors.size() != count_parameters(optimizer)) read(optimizer, known);
  return known.addresses;
}

void KnownOptimizers::read(const ::torch::optim::Optimizer& optimizer, Known& known) {
  known = {};
  for (const auto& group : optimizer.param_groups()) {
    for (const at::Tensor& parameter : group.params()) {
      known.addresses.insert(parameter.unsafeGetTensorImpl());
      known.tensors.emplace_back(parameter);
    }
  }
  changed_ = true;
}

ParameterSet KnownOptimizers::all_parameters() const {
  ParameterSet all;
  for (const auto& [optimizer, known] : optimizers_) all.insert(known.addresses.begin(), known.addresses.end());
  return all;
}

bool KnownOptimizers::train(const at::Tensor& tensor) const {
  const void* address = address_of(tensor);
  if (address == nullptr) return false;
  const auto begins_there = [&](const WeakTensor& each) { return address_of(each.lock()) == address; };
  return std::any_of(optimizers_.begin(), optimizers_.end(), [&](const auto& item) {
    return std::any_of(item.second.tensors.begin(), item.second.tensors.end(), begins_there);
  });
}

bool KnownOptimizers::changed_since_last_asked() {
  return std::exchange(changed_, false);
}

void KnownOptimizers::forget_dead() {
  std::erase_if(optimizers_, [this](const auto& item) {
    const Known& known = item.second;
    const bool is_dead = std::none_of(known.tensors.begin(), known.tensors.end(),
                                      [](const WeakTensor& each) { return each.lock().defined(); });
    if (is_dead) cycle_.remove(item.first);
    return is_dead;
  });
}

}  // namespace trainwarden::torch
