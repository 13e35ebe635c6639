// WatchedRoot: puts the parts of the adapter together for a model that may go at any time.
#include "watched_root.h"

#include <utility>

namespace trainwarden::torch {

WatchedRoot::WatchedRoot(Hook& hook, const LiveModule& root, std::string prefix, ActivationTap::CallFilter filter)
    : hook_(hook),
      module_(root.module),
      number_(root.number),
      prefix_(std::move(prefix)),
      tensors_(hook, *root.module, prefix_),
      calls_(hook),
      tap_(calls_, *root.module, prefix_, std::move(filter)) {}

bool WatchedRoot::is_training() const {
  const auto live = lock();
  return !live || live->module->is_training();
}

void WatchedRoot::refresh() {
  const auto live = lock();
  if (!live || !tensors_.refresh()) return;
  tap_.refresh();
  for (auto& [optimizer, state] : optimizer_states_) state.refresh();
}

void WatchedRoot::begin_step() {
  calls_.begin_step();
  if (const auto live = lock()) {
    tap_.begin_step();
  } else {
    tap_.settle();
  }
}

void WatchedRoot::begin_step_listening() {
  tap_.settle();
  calls_.begin_step();
  if (const auto live = lock()) tap_.switch_on();
}

void WatchedRoot::begin_next_step() {
  calls_.begin_step();
}

void WatchedRoot::save_optimizer_state(const ::torch::optim::Optimizer& optimizer) {
  if (!OptimizerState::knows(optimizer)) return;
  const std::pair key(static_cast<const void*>(&optimizer), std::type_index(typeid(optimizer)));
  optimizer_states_.try_emplace(key, hook_, optimizer, tensors_).first->second.save();
}

}  // namespace trainwarden::torch
