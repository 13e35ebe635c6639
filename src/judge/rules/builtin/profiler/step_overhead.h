// StepOverhead: how much of a train step is the same whatever the size of the batch, from recorded operator calls.
#pragma once

#include <optional>
#include <string>

#include "trainwarden/status.h"
#include "trainwarden/trial.h"

namespace trainwarden::rules {

// Means over the steps that were looked at, in seconds. `wall` is without waits for data, evaluation, checkpoints and
// capture. What is fixed: the optimizer, the time between operators (the program, and the framework's own), and what it
// takes to call an operator: of each call up to 20 µs of its own time. At least that is as much as a typical call
// takes, since half of all calls do no more than look at shapes.
struct StepOverhead {
  std::size_t steps = 0;
  double wall = 0;
  double fixed = 0;
  double fixed_low = 0;   // a call costs no more than the median one
  double fixed_high = 0;  // a call costs up to twice that
  double calls = 0;       // in a step, outside the optimizer
  double call = 0;        // median own time of one
  double between = 0;     // of a step: no operator ran
  double share() const { return wall > 0 ? fixed / wall : 0; }
  double least_share() const { return wall > 0 ? fixed_low / wall : 0; }
};

// Of the worker's steps that have both operator calls and phases; none when there is none. Errors of the storage.
Result<std::optional<StepOverhead>> step_overhead(Trial& trial, const std::string& worker);

}  // namespace trainwarden::rules
