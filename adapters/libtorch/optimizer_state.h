// OptimizerState: what an optimizer remembers of each parameter.
#pragma once

#include <torch/optim/optimizer.h>

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "model_tensors.h"
#include "trainwarden/hook.h"

namespace trainwarden::torch {

class OptimizerState {
 public:
  // SGD, Adam, AdamW, RMSprop and Adagrad of torch::optim.
  static bool knows(const ::torch::optim::Optimizer& optimizer);

  // Logs when the kind of optimizer is not known; nothing is captured then.
  OptimizerState(Hook& hook, const ::torch::optim::Optimizer& optimizer, const ModelTensors& model);

  // Declares `optimizer_state/<parameter>/<field>` for the parameters that the model has now.
  void refresh();
  void save();

  // A field of the state of a parameter, "exp_avg". `read` gives an undefined tensor when the optimizer does not use
  // it.
  struct Field {
    std::string_view name;
    at::Tensor (*read)(const ::torch::optim::OptimizerParamState& state);
  };

 private:
  // A field of a parameter.
  struct Entry {
    const c10::TensorImpl* parameter;
    const Field* field;
    TensorId id;
  };

  Hook& hook_;
  const ::torch::optim::Optimizer& optimizer_;
  const ModelTensors& model_;
  std::span<const Field> fields_;
  std::vector<Entry> entries_;
};

}  // namespace trainwarden::torch
