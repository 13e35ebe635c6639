// Curves of trials: what a metric was at a step, so that trials whose steps differ can be compared.
//
// All as costs: smaller is better. NaN: not known. An infinitely good value is as little a number as NaN is; an
// infinitely bad one is the worst.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "tune/search/pruner.h"

namespace trainwarden::tune {

using Curve = std::span<const Intermediate>;

// The metric that a pruner of one objective looks at: the first objective. None: the study has none.
std::optional<std::size_t> first_objective(const History& history);
// Empty where there is none.
Curve curve_of(const StudyTrial& trial, std::size_t metric);

double sound_cost(const StudyMetric& metric, double value);
// The last value at or before the step. NaN where the curve begins later or ends before: a trial says nothing about
// steps that it has not reached. A complete one has its last value for ever.
double cost_at_step(const History& history, const StudyTrial& trial, std::size_t metric, std::int64_t step);
// The best value up to a step; NaN where there is none.
double best_cost_until(const History& history, const StudyTrial& trial, std::size_t metric, std::int64_t step);

// Do others compare with it? Not with what failed (as what ends with NaN does) or was ended by a verdict, for then its
// values are in doubt, nor with what has not begun.
bool is_comparable(const StudyTrial& trial);
// The largest last step of complete trials. None where no complete trial has this curve.
std::optional<std::int64_t> longest_complete(const History& history, std::size_t metric);

// Prunes when the newest value is no number.
PruneAnswer judge_newest(const History& history, std::size_t trial, std::size_t metric);

// "f1 0.31 at step 100"
std::string value_text(const StudyMetric& metric, double cost, std::int64_t step);
// "0.52": the value of a cost.
std::string value_text(const StudyMetric& metric, double cost);
// Which way is bad: "above" of what is minimised.
std::string_view worse_side(const StudyMetric& metric);

}  // namespace trainwarden::tune
