#include "veto.h"

namespace trainwarden::torch {

void take_gradients_from(const ::torch::optim::Optimizer& optimizer) {
  for (const auto& group : optimizer.param_groups()) {
    for (at::Tensor parameter : group.params()) parameter.mutable_grad() = at::Tensor();
  }
}

}  // namespace trainwarden::torch
