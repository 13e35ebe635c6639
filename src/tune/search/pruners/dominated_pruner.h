// For several objectives: ends what another trial beats and what cannot become feasible any more.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "tune/search/pruner.h"

namespace trainwarden::tune {

struct DominatedOptions {
  std::optional<std::int64_t> min_resource;  // the first rung, in steps; none ("auto"): as ASHA's
  std::int64_t reduction_factor = 2;         // of one rung to the next; rungs only compare, none is cut to a share
  std::int64_t min_trials = 5;               // so many complete trials must say what is still to be gained
  double deviations = 2;                     // the upper confidence bound, in standard deviations
};

// "dominated" looks at all objectives and all thresholds. Prunes a trial when both hold:
// - At the last rung that it has reached in all objectives another trial is as good in all and better in one.
// - It cannot meet the threshold of a constraint, or of an objective (what misses that is of no interest): even the
// best
//   to hope for misses it. That is its newest value v at step s, improved by
//       max(largest gain seen, mean gain + deviations * standard deviation * sqrt(1 + 1/n)),
//   where the gains are those of the n complete trials whose curves reach s, each from its value at s to its last. (Of
//   what grows, as time does, gains are negative.) What complete trials gained from s on is taken for what any trial
//   can gain: a late starter that is unlike all of them is misjudged.
// Needs a threshold, a trial that beats it, and min_trials complete trials that reached s. One objective will do.
std::unique_ptr<TrialPruner> make_dominated_pruner(const DominatedOptions& options = {});

}  // namespace trainwarden::tune
