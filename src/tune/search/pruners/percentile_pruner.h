// Ends what is worse than most complete trials were at the same step.
#pragma once

#include <cstdint>
#include <memory>

#include "tune/search/pruner.h"

namespace trainwarden::tune {

// Names and defaults are Optuna's.
struct PercentileOptions {
  double percentile = 50;           // so many percent of the complete trials are good enough to go on
  std::int64_t startup_trials = 5;  // nothing is pruned before so many are complete
  std::int64_t warmup_steps = 0;    // nor before this step
  std::int64_t interval_steps = 1;  // it is judged at warmup_steps and every so many steps from there
  std::int64_t min_trials = 1;      // so many complete trials must have a value at the step
};

// "median" for 50 percent, otherwise "percentile". Of the first objective: the best value of the trial up to the last
// step of the interval against this percentile (linear between values, as numpy's) of the complete trials' values at
// that step; a trial all of whose values are NaN is pruned too.
// Needs at least `startup_trials` complete trials, `min_trials` of them with a value at or before the step.
std::unique_ptr<TrialPruner> make_percentile_pruner(const PercentileOptions& options = {});

}  // namespace trainwarden::tune
