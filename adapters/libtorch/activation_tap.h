// ActivationTap: sees the inputs and outputs of layers while the model runs.
//
// Listens only in steps that want an input or output of some layer. Belongs to one thread; operators on other threads
// are not seen.
#pragma once

#include <torch/nn/module.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "layer_calls.h"
#include "layer_operator.h"
#include "operator_listener.h"
#include "parameter_owners.h"

namespace trainwarden::torch {

class ActivationTap : public OperatorListener {
 public:
  // Asked when a layer is called, by its number in `calls`: is the call to be captured?
  using CallFilter = std::function<bool(std::size_t layer)>;

  ActivationTap(LayerCalls& calls, const ::torch::nn::Module& module, std::string prefix, CallFilter filter = {});

  // Declares the layers that the module has now. The module must be alive.
  void refresh();
  // Switches on or off, as the current step wants. Before the first operator of the step; the module must be alive.
  void begin_step();
  // Switches on, whatever the step wants. The module must be alive.
  void switch_on();
  // Saves the output that is still held back. Before anything that may change it.
  void settle();

  std::unique_ptr<OperatorCall> begin_call(const at::RecordFunction& function) override;

 private:
  class Call;

  bool is_wanted();
  bool completes_held_call(const std::vector<at::Tensor>& operands) const;

  LayerCalls& calls_;
  const ::torch::nn::Module& module_;
  const std::string prefix_;
  const CallFilter filter_;
  std::vector<std::size_t> layers_;  // with parameters or buffers, by number in calls_
  std::optional<ParameterOwners> owners_;
  // The outputs of the newest call, until the next operator begins: it may be the sum that completes the call.
  std::size_t held_layer_ = 0;
  std::vector<at::Tensor> held_outputs_;
};

}  // namespace trainwarden::torch
