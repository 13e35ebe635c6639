// StepOverhead: how much of a train step is the same whatever the size of the batch, from recorded operator calls.
#pragma once

#include <optional>
#include <string>

#include "trainwarden/status.h"
#include "trainwarden/trial.h"

namespace trainwarden::rules {

// Means over the steps that were looked at, in seconds. `wall` is without waits for data, evaluation, checkpoints and
// capture. What is fixed: the optimizer, the time between operators (the program, and the framework's own), and of each
// call as much as a typical one takes, since half of all calls do no more than look at shapes.
struct StepOverhead {
  std::size_t steps = 0;
  double wall = 0;
  double fixed = 0;
  double fixed_low = 0;   // a call costs half of that, and the program's own code grows with the batch
  double fixed_high = 0;  // a call costs twice that
  double calls = 0;       // in a step, outside the optimizer
  double call = 0;        // median own time of one
  double between = 0;     // of a step: no operator ran
  double share() const { return wall > 0 ? fixed / wall : 0; }
};

// Of the worker's steps that have both operator calls and phases; none when there is none. Errors of the storage.
Result<std::optional<StepOverhead>> step_overhead(Trial& trial, const std::string& worker);

}  // namespace trainwarden::rules
