#include "tune/search/pruners/curve.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace trainwarden::tune {
namespace {

constexpr double kUnknownCost = std::numeric_limits<double>::quiet_NaN();

Curve up_to(Curve curve, std::int64_t step) {
  const auto end = std::upper_bound(curve.begin(), curve.end(), step,
                                    [](std::int64_t limit, const Intermediate& each) { return limit < each.step; });
  return curve.first(static_cast<std::size_t>(end - curve.begin()));
}

}  // namespace

std::optional<std::size_t> first_objective(const History& history) {
  for (std::size_t i = 0; i < history.metrics.size(); ++i) {
    if (history.metrics[i].strategy == Strategy::kOptimize) return i;
  }
  return std::nullopt;
}

Curve curve_of(const StudyTrial& trial, std::size_t metric) {
  return metric < trial.series.size() ? Curve(trial.series[metric]) : Curve();
}

double sound_cost(const StudyMetric& metric, double value) {
  const double cost = metric.cost(value);
  return cost == -std::numeric_limits<double>::infinity() ? kUnknownCost : cost;
}

double cost_at_step(const History& history, const StudyTrial& trial, std::size_t metric, std::int64_t step) {
  const Curve curve = curve_of(trial, metric), before = up_to(curve, step);
  if (before.empty()) return kUnknownCost;
  if (trial.state != TrialState::kComplete && curve.back().step < step) return kUnknownCost;
  return sound_cost(history.metrics[metric], before.back().value);
}

double best_cost_until(const History& history, const StudyTrial& trial, std::size_t metric, std::int64_t step) {
  double best = kUnknownCost;
  for (const Intermediate& each : up_to(curve_of(trial, metric), step)) {
    const double cost = sound_cost(history.metrics[metric], each.value);
    if (std::isnan(best) || cost < best) best = cost;
  }
  return best;
}

bool is_comparable(const StudyTrial& trial) {
  return trial.state != TrialState::kFailed && trial.state != TrialState::kWaiting && !trial.ended_by_verdict;
}

std::optional<std::int64_t> longest_complete(const History& history, std::size_t metric) {
  std::optional<std::int64_t> longest;
  for (const StudyTrial& trial : history.trials) {
    const Curve curve = curve_of(trial, metric);
    if (trial.state != TrialState::kComplete || curve.empty()) continue;
    longest = std::max(longest.value_or(0), curve.back().step);
  }
  return longest;
}

PruneAnswer judge_newest(const History& history, std::size_t trial, std::size_t metric) {
  const Curve curve = curve_of(history.trials[trial], metric);
  if (curve.empty() || !std::isnan(sound_cost(history.metrics[metric], curve.back().value))) return {};
  return {true, fmt::format("{} is {} at step {}, which is no number to compare", history.metrics[metric].name,
                            curve.back().value, curve.back().step)};
}

std::string value_text(const StudyMetric& metric, double cost) {
  return fmt::format("{:.4g}", metric.cost(cost));
}
std::string value_text(const StudyMetric& metric, double cost, std::int64_t step) {
  return fmt::format("{} {} at step {}", metric.name, value_text(metric, cost), step);
}
std::string_view worse_side(const StudyMetric& metric) {
  return metric.goal == Goal::kMinimize ? "above" : "below";
}

}  // namespace trainwarden::tune
