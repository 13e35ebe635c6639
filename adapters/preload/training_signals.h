// TrainingSignals: what an untouched training does besides computing tensors (docs/format/signals.md): the order of its
// calls, learning rates, memory, the time of a step.
#pragma once

#include <torch/optim/optimizer.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainwarden/hook.h"

namespace trainwarden::torch {

class TrainingSignals {
 public:
  explicit TrainingSignals(Hook& hook) : hook_(hook) {}

  void backward_begins();
  void gradients_cleared();
  void step_begins(const ::torch::optim::Optimizer& optimizer);
  // Before a step of the training ends: writes what has gathered, when it is wanted.
  void end_step();

 private:
  void save(std::string_view name, double value);
  void save_calls();
  void save_learning_rates();

  Hook& hook_;
  std::vector<std::uint8_t> calls_;
  std::map<std::pair<const void*, std::size_t>, double> rates_;         // by optimizer and group, of this step
  std::map<std::pair<const void*, std::size_t>, std::size_t> numbers_;  // of learning rates, for the whole run
  std::optional<std::chrono::steady_clock::time_point> last_end_;
};

}  // namespace trainwarden::torch
