// Ends what leaves a range.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "tune/search/pruner.h"

namespace trainwarden::tune {

struct ThresholdOptions {
  std::optional<double> min, max;  // of values as they are, whatever the goal
  std::int64_t warmup_steps = 0;   // nothing is pruned before this step
};

// "threshold": prunes when the newest value of the first objective is below min, above max or no number (NaN, or
// infinitely good); without min and max only then.
// Needs one value, and no other trial.
std::unique_ptr<TrialPruner> make_threshold_pruner(const ThresholdOptions& options = {});

}  // namespace trainwarden::tune
