// WatchedModels: all models of the program that are trained, found and named.
#pragma once

#include <torch/optim/optimizer.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "watched_root.h"

namespace trainwarden::torch {

class WatchedModels {
 public:
  // Asked when a layer of a model is called, by the layer's number within the model: is the call to be captured?
  using CallFilter = std::function<bool(const WatchedRoot& root, std::size_t layer)>;

  WatchedModels(Hook& hook, CallFilter filter) : hook_(hook), filter_(std::move(filter)) {}

  // Drops the models that are gone, and watches those that hold any of the parameters and are part of no other model.
  // A model alone has no prefix; of several each has its class for a prefix, "Generator.". Gives the new ones.
  std::vector<WatchedRoot*> update(const ParameterSet& trained);

  bool all_alive() const;
  bool all_training() const;
  bool has(const ::torch::nn::Module& module) const;

  template <class Action>
  void for_each(Action&& action) {
    for (const auto& root : roots_) action(*root);
  }

 private:
  std::string free_prefix(const ::torch::nn::Module& module) const;
  WatchedRoot* watch(const LiveModule& root, std::string prefix);

  Hook& hook_;
  const CallFilter filter_;
  std::vector<std::unique_ptr<WatchedRoot>> roots_;
};

}  // namespace trainwarden::torch
