// A step of an optimizer that is not to change anything.
#pragma once

#include <torch/optim/optimizer.h>

namespace trainwarden::torch {

// Takes the gradients away from what the optimizer trains. LibTorch's optimizers leave parameters without one alone,
// and what they remember of them; but for LBFGS, whose closure computes new ones.
void take_gradients_from(const ::torch::optim::Optimizer& optimizer);

}  // namespace trainwarden::torch
