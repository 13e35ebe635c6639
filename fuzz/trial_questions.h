// What a trial can be asked, asked: for the fuzzing of whole runs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "trainwarden/trial.h"

namespace trainwarden::fuzz {

inline void ask_everything(Trial& trial) {
  constexpr std::size_t kMostNames = 16;
  constexpr std::size_t kMostSteps = 4;
  (void)trial.refresh();
  for (const Mode mode : trial.modes()) (void)trial.steps(mode, true);
  const auto names = trial.tensor_names();
  if (!names.ok()) std::abort();
  for (std::size_t i = 0; i < std::min(names->size(), kMostNames); ++i) {
    const std::string& name = (*names)[i];
    (void)trial.tensor_info(name);
    const auto steps = trial.steps_of(name);
    for (std::size_t k = 0; k < std::min(steps.size(), kMostSteps); ++k) {
      const auto value = trial.value(name, steps[k]);
      if (value.ok() && value->dtype != DType::kString &&
          value->data.size() != static_cast<std::size_t>(value->shape.element_count()) * item_bytes(value->dtype)) {
        std::abort();
      }
      (void)trial.statistics(name, steps[k]);
      (void)trial.saved_reductions(name, steps[k]);
      (void)trial.shape(name, steps[k]);
      (void)trial.scalar(name, steps[k]);
    }
  }
  for (const std::string& worker : trial.workers()) {
    const auto steps = trial.operator_steps(worker);
    for (std::size_t i = 0; i < std::min(steps.size(), kMostSteps); ++i) (void)trial.operators(worker, steps[i]);
  }
  const auto collections = trial.collections();
  for (std::size_t i = 0; i < std::min(collections.size(), kMostNames); ++i) (void)trial.collection(collections[i]);
  (void)trial.losses();
}

}  // namespace trainwarden::fuzz
