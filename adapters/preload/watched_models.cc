// WatchedModels: roots come and go.
#include "watched_models.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace trainwarden::torch {
namespace {

bool holds_any_of(const ::torch::nn::Module& module, const ParameterSet& parameters) {
  const auto own = module.parameters();
  return std::any_of(own.begin(), own.end(),
                     [&](const at::Tensor& parameter) { return parameters.contains(parameter.unsafeGetTensorImpl()); });
}

}  // namespace

std::vector<WatchedRoot*> WatchedModels::update(const ParameterSet& trained) {
  std::vector<LiveModule> found = roots_of(ModuleRegistry::instance().live());
  std::erase_if(found, [&](const LiveModule& live) { return !holds_any_of(*live.module, trained); });
  std::unordered_set<std::uint64_t> numbers;
  for (const LiveModule& live : found) numbers.insert(live.number);

  // Gone are also those that have become part of another; they are watched as such from now on.
  std::erase_if(roots_, [&](const auto& root) { return !numbers.contains(root->number()); });
  for (const auto& root : roots_) numbers.erase(root->number());
  std::erase_if(found, [&](const LiveModule& live) { return !numbers.contains(live.number); });

  const bool alone = roots_.empty() && found.size() == 1;
  std::vector<WatchedRoot*> added;
  for (const LiveModule& live : found) added.push_back(watch(live, alone ? "" : free_prefix(*live.module)));
  return added;
}

WatchedRoot* WatchedModels::watch(const LiveModule& root, std::string prefix) {
  // The filter gets the model, whose address is not known before it is made.
  const auto place = std::make_shared<const WatchedRoot*>(nullptr);
  auto filter = [this, place](std::size_t layer) { return filter_(**place, layer); };
  roots_.push_back(std::make_unique<WatchedRoot>(hook_, root, std::move(prefix), std::move(filter)));
  *place = roots_.back().get();
  return roots_.back().get();
}

std::string WatchedModels::free_prefix(const ::torch::nn::Module& module) const {
  const std::string name = class_of(module);
  std::string prefix = name + ".";
  const auto is_taken = [&] {
    return std::any_of(roots_.begin(), roots_.end(), [&](const auto& root) { return root->prefix() == prefix; });
  };
  for (int number = 2; is_taken(); ++number) prefix = name + "_" + std::to_string(number) + ".";
  return prefix;
}

bool WatchedModels::all_alive() const {
  return std::all_of(roots_.begin(), roots_.end(), [](const auto& root) { return root->is_alive(); });
}

bool WatchedModels::all_training() const {
  return std::all_of(roots_.begin(), roots_.end(), [](const auto& root) { return root->is_training(); });
}

bool WatchedModels::has(const ::torch::nn::Module& module) const {
  return std::any_of(roots_.begin(), roots_.end(), [&](const auto& root) { return root->is(module); });
}

}  // namespace trainwarden::torch
