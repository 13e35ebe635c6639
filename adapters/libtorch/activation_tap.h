// ActivationTap: sees the inputs and outputs of layers while the model runs, through LibTorch's RecordFunction.
//
// Switched on only in steps that want an input or output of some layer; costs nothing in others, and about 200 ns an
// operator when on. Belongs to one thread; operators on other threads are not seen.
//
// Translation units that see RecordFunction must be compiled with NDEBUG, as LibTorch itself is: the layout of the
// class depends on it.
#pragma once

#include <ATen/record_function.h>
#include <torch/nn/module.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "layer_calls.h"
#include "layer_operator.h"
#include "parameter_owners.h"

namespace trainwarden::torch {

class ActivationTap {
 public:
  ActivationTap(LayerCalls& calls, const ::torch::nn::Module& module, std::string prefix);
  ~ActivationTap();
  ActivationTap(const ActivationTap&) = delete;
  ActivationTap& operator=(const ActivationTap&) = delete;

  // Declares the layers that the module has now.
  void refresh();
  // Switches on or off, as the current step wants. Before the first operator of the step.
  void begin_step();
  // Saves the output that is still held back. Before anything that may change it.
  void settle();

 private:
  // The call that an operator is.
  struct Call : at::ObserverContext {
    Call(ActivationTap& tap_of_call, std::size_t number) : tap(tap_of_call), layer(number) {}
    ActivationTap& tap;
    const std::size_t layer;
  };
  // What the callbacks know of the thread they run in.
  struct ThreadState {
    std::vector<ActivationTap*> taps;  // those that are on
    at::CallbackHandle callback = at::INVALID_CALLBACK_HANDLE;
    int backward_depth = 0;  // of backward functions that are running
    bool in_call = false;    // what runs now is part of a call that was seen
  };

  static ThreadState& this_thread();
  static std::unique_ptr<at::ObserverContext> on_start(const at::RecordFunction& function);
  static void on_end(const at::RecordFunction& function, at::ObserverContext* context);

  void switch_on();
  void switch_off();
  // Saves the inputs. Null when the operator is not the call of a layer.
  std::unique_ptr<Call> begin_call(const at::RecordFunction& function);
  bool completes_held_call(const std::vector<at::Tensor>& operands) const;

  LayerCalls& calls_;
  const ::torch::nn::Module& module_;
  const std::string prefix_;
  std::vector<std::size_t> layers_;  // with parameters or buffers, by number in calls_
  std::optional<ParameterOwners> owners_;
  // The outputs of the newest call, until the next operator begins: it may be the sum that completes the call.
  std::size_t held_layer_ = 0;
  std::vector<at::Tensor> held_outputs_;
};

}  // namespace trainwarden::torch
