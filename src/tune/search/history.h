// History: what a search knows: the trials so far, and what is asked of them.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tune/search/space.h"

namespace trainwarden::tune {

enum class Goal : std::uint8_t { kMinimize, kMaximize };

// What a metric is for.
enum class Strategy : std::uint8_t {
  kOptimize,   // make it as good as can be
  kConstrain,  // at least as good as its threshold; no more is gained
  kStore,      // only kept
};

struct StudyMetric {
  std::string name;
  Goal goal = Goal::kMinimize;
  Strategy strategy = Strategy::kOptimize;
  // Of a constraint, what must be reached. Of an objective, what is good enough: points that miss it are of no
  // interest.
  std::optional<double> threshold;

  // Smaller is better.
  double cost(double value) const { return goal == Goal::kMinimize ? value : -value; }
};

enum class TrialState : std::uint8_t {
  kWaiting,
  kRunning,
  kComplete,
  kPruned,
  kFailed,
  kPaused,  // it stands at a rung with a checkpoint, and goes on when it becomes one of the best there
};

struct Intermediate {
  std::int64_t step = 0;
  double value = 0;
};

struct StudyTrial {
  std::int64_t number = 0;  // below 0: of another study, from which this one starts; samplers alone see such trials
  Point point;
  TrialState state = TrialState::kWaiting;
  std::vector<double> values;                     // of each metric, in their order; NaN: not known
  std::vector<std::vector<Intermediate>> series;  // of each metric; steps rise
  std::map<std::string, double> notes;            // of the sampler that suggested it, for its own use
  // A verdict on its run ended it, whatever its metrics were: ruinous, and as little to compare with as a failed one.
  // Never of a complete one.
  bool ended_by_verdict = false;
  bool is_repeat = false;  // it did not run: an earlier trial with the same values is its result

  std::int64_t passed_rung = 0;  // the highest rung behind which it may go on; 0: none

  bool is_over() const {
    return state == TrialState::kComplete || state == TrialState::kPruned || state == TrialState::kFailed;
  }
  // Its last intermediate value says what it is worth: it has ended early, or has stood or stands at a rung.
  bool counts_by_last_value() const {
    if (ended_by_verdict) return false;
    return state == TrialState::kPruned || state == TrialState::kPaused ||
           (state == TrialState::kRunning && passed_rung > 0);
  }
};

struct History {
  Space space;
  std::vector<StudyMetric> metrics;
  std::vector<StudyTrial> trials;  // by their numbers
  std::uint64_t seed = 0;

  // Indices of the metrics with this strategy.
  std::vector<std::size_t> objectives() const;
  std::vector<std::size_t> constraints() const;
};

// By how much a trial misses its constraints, in sum, each as cost(value) - cost(threshold); 0: it meets them; NaN: a
// value is not known.
double violation_of(const History& history, const StudyTrial& trial);
// A complete trial whose objectives are all finite numbers and which meets the constraints.
bool is_feasible(const History& history, const StudyTrial& trial);
// Of one objective: the number of the best feasible trial, none where there is none. Of equal ones the first.
std::optional<std::size_t> best_of(const History& history);
// Indices of the feasible trials that no other one dominates (as good in all objectives and better in one).
std::vector<std::size_t> pareto_front(const History& history);

}  // namespace trainwarden::tune
