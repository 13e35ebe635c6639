// Promotion: successive halving in which a trial waits at its rung, and goes on once it is one of the best there.
//
// Li et al. (2020), "A System for Massively Parallel Hyperparameter Tuning", algorithm 2: before a new trial is started
// at the bottom, get_job() looks from the highest rung down for a trial that is among the best floor(m / factor) of the
// m trials that have reached the rung, and has not been promoted from it yet. Of several at one rung the best goes
// first. Here a trial that is among the best when it arrives goes on without a pause, as its worker would have come
// back to it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "tune/search/pruner.h"
#include "tune/search/pruners/rungs.h"

namespace trainwarden::tune {

// Trials that are compared with each other.
struct RungGroup {
  Rungs rungs;
  std::function<bool(std::size_t)> is_member;  // by its index in the history
};

// Of a running trial at the last rung that it has reached: it passes (PruneAnswer::rung), or is paused. What it has
// passed is not asked again until the next rung. Who has come as far as the longest complete trial is at its end, and
// goes on. Equal costs count by the numbers of the trials. Otherwise as judge_at_rung(): without a number it is pruned,
// below the step `trusted` nothing is compared.
PruneAnswer judge_arrival(const History& history, std::size_t trial, std::size_t metric, const Rungs& rungs,
                          std::int64_t trusted, const std::function<bool(std::size_t)>& is_rival);

// The paused trial that goes on now. With `is_last`, where no trial is complete and none may be promoted, it is the
// best one of the highest rung: a study is to end with a result.
std::optional<Promotion> best_promotion(const History& history, std::size_t metric,
                                        const std::vector<RungGroup>& groups, bool is_last);

}  // namespace trainwarden::tune
