// Successive halving without waiting: at each rung the best part goes on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "tune/search/pruner.h"

namespace trainwarden::tune {

// Names and defaults are Optuna's, but for check_fidelity.
struct AshaOptions {
  std::optional<std::int64_t> min_resource;  // in steps; none ("auto"): a hundredth of the longest complete trial
  std::int64_t reduction_factor = 4;         // one of so many goes on
  std::int64_t early_stopping = 0;           // so many rungs from below are left out
  bool check_fidelity = true;                // not below trusted_step() (fidelity.h)
  bool pause = false;                        // by promotion (promotion.h), in place of ending trials
};

// "asha": rungs.h says how, at the rungs min_resource * reduction_factor^(early_stopping + k), for the first objective.
// Needs another trial with a value at the rung and, without min_resource, a complete trial; a newest value that is no
// number needs nothing. With check_fidelity it prunes as usual until kMinTrialsToTrust trials are complete, and from
// then on not below the trusted step.
std::unique_ptr<TrialPruner> make_asha_pruner(const AshaOptions& options = {});

}  // namespace trainwarden::tune
