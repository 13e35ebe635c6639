// KnownOptimizers: what each optimizer of the program trains, and whose turn it is.
#pragma once

#include <torch/optim/optimizer.h>

#include <map>
#include <vector>

#include "model_tensors.h"
#include "step_cycle.h"

namespace trainwarden::torch {

// An optimizer is followed only where it is given; it is forgotten when all that it trains is gone.
class KnownOptimizers {
 public:
  // It got parameters; it may still be under construction.
  void add(const ::torch::optim::Optimizer& optimizer);
  const ParameterSet& parameters_of(const ::torch::optim::Optimizer& optimizer);
  ParameterSet all_parameters() const;
  // Does any of them train the tensor, or one that begins where it does? (The weight of a linear layer is transposed.)
  bool train(const at::Tensor& tensor) const;
  bool changed_since_last_asked();

  void forget_dead();
  StepCycle& cycle() { return cycle_; }

 private:
  struct Known {
    ParameterSet addresses;
    std::vector<WeakTensor> tensors;
  };

  void read(const ::torch::optim::Optimizer& optimizer, Known& known);

  std::map<const void*, Known> optimizers_;
  StepCycle cycle_;
  bool changed_ = false;
};

}  // namespace trainwarden::torch
