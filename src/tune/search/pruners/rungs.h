// Rungs: the steps at which trials are compared by successive halving (Li et al. 2020, ASHA).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "tune/search/pruner.h"

namespace trainwarden::tune {

// The steps first * factor^k; first >= 1, factor >= 2.
struct Rungs {
  std::int64_t first = 1;
  std::int64_t factor = 4;

  // The last rung at or below the step; none below the first.
  std::optional<std::int64_t> last_at(std::int64_t step) const;
  // The rung `count` above the first; no more than the largest whole number.
  Rungs without(std::int64_t count) const;
};

// The smallest rung that Optuna would choose: a hundredth of the longest complete trial, at least 1. None before one is
// complete.
std::optional<std::int64_t> least_rung(const History& history, std::size_t metric);

// The stopping form: the trial goes on when it is among the best max(1, floor(m / factor)) of the m trials, itself
// included, that have a value at the last rung that it has reached, or as good as the last of them. It is asked anew at
// each report until the next rung: who was let through for want of rivals ends when they come. (A decision taken once,
// as in other libraries, would depend on when it was asked. Where one trial runs at a time both are the same.)
// Pruned when its newest value is no number, wherever that is. Trials that failed or that a verdict ended, and those
// that `is_rival` (by their index) denies, are not compared. Needs one rival with a value at the rung. Below the step
// `trusted` nothing is compared.
PruneAnswer judge_at_rung(const History& history, std::size_t trial, std::size_t metric, const Rungs& rungs,
                          std::int64_t trusted, const std::function<bool(std::size_t)>& is_rival);

}  // namespace trainwarden::tune
