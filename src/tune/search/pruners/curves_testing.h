// Histories of curves for the tests of pruners.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tune/search/pruners/curve.h"

namespace trainwarden::tune {

inline History history_of(std::vector<StudyMetric> metrics, std::uint64_t seed = 0) {
  return {.space = *Space::make({{.name = "x", .min = 0, .max = 1}}), .metrics = std::move(metrics), .seed = seed};
}
inline History minimized_loss() {
  return history_of({{.name = "loss"}});
}
inline History maximized_f1() {
  return history_of({{.name = "f1", .goal = Goal::kMaximize}});
}

// Values at the steps 1, 2, ...
inline std::vector<Intermediate> values_from_one(const std::vector<double>& values) {
  std::vector<Intermediate> curve;
  for (const double value : values) curve.push_back({static_cast<std::int64_t>(curve.size()) + 1, value});
  return curve;
}

// A complete trial has the last value of each curve as its value. Its index.
inline std::size_t add_trial(History& history, TrialState state, std::vector<std::vector<Intermediate>> series) {
  StudyTrial trial{.number = static_cast<std::int64_t>(history.trials.size()), .point = {0.5}, .state = state};
  trial.series = std::move(series);
  if (state == TrialState::kComplete) {
    for (const auto& curve : trial.series) trial.values.push_back(curve.empty() ? NAN : curve.back().value);
  }
  history.trials.push_back(std::move(trial));
  return history.trials.size() - 1;
}
inline std::size_t add_complete(History& history, const std::vector<double>& values) {
  return add_trial(history, TrialState::kComplete, {values_from_one(values)});
}
inline std::size_t add_running(History& history, const std::vector<double>& values) {
  return add_trial(history, TrialState::kRunning, {values_from_one(values)});
}

// With the same value at all steps.
inline std::size_t add_flat(History& history, TrialState state, double value, std::size_t steps) {
  return add_trial(history, state, {values_from_one(std::vector<double>(steps, value))});
}

// What a verdict ended: it has reported the same value at all steps.
inline std::size_t add_ended_by_verdict(History& history, double value, std::size_t steps) {
  const std::size_t index = add_flat(history, TrialState::kPruned, value, steps);
  history.trials[index].ended_by_verdict = true;
  return index;
}

}  // namespace trainwarden::tune
