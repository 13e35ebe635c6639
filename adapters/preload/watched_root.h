// WatchedRoot: a model of the program that some optimizer trains, and what is captured of it.
#pragma once

#include <torch/optim/optimizer.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <typeindex>
#include <utility>

#include "activation_tap.h"
#include "layer_calls.h"
#include "model_tensors.h"
#include "module_registry.h"
#include "optimizer_state.h"

namespace trainwarden::torch {

// Keeps the model as little alive as the registry does. What is said of a model that is gone does nothing.
class WatchedRoot {
 public:
  WatchedRoot(Hook& hook, const LiveModule& root, std::string prefix, ActivationTap::CallFilter filter);

  std::uint64_t number() const { return number_; }  // in the registry
  const std::string& prefix() const { return prefix_; }
  bool is_alive() const { return lock().has_value(); }
  bool is(const ::torch::nn::Module& module) const { return module_ == &module; }
  bool is_training() const;

  // Looks for parameters that came or went.
  void refresh();
  void begin_step();
  // In a mode whose steps are told apart by the calls of layers.
  void begin_step_listening();
  void begin_next_step();  // as the step before, with the names beginning again
  void settle() { tap_.settle(); }

  void save_gradients_of(const ParameterSet& parameters) { tensors_.save_gradients_of(parameters); }
  void save_optimizer_state(const ::torch::optim::Optimizer& optimizer);
  void save_parameters_and_buffers() { tensors_.save_parameters_and_buffers(); }

 private:
  std::optional<LiveModule> lock() const { return ModuleRegistry::instance().find(module_, number_); }

  Hook& hook_;
  const ::torch::nn::Module* const module_;  // followed only under lock()
  const std::uint64_t number_;
  const std::string prefix_;
  ModelTensors tensors_;
  LayerCalls calls_;
  ActivationTap tap_;
  // By address and class of the optimizer: another one may come to lie where one was.
  std::map<std::pair<const void*, std::type_index>, OptimizerState> optimizer_states_;
};

}  // namespace trainwarden::torch
