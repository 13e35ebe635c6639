#include "tune/study/repeats.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace trainwarden::tune {
namespace {

bool are_equal(const Point& one, const Point& other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); });
}

std::map<std::string, double> metrics_of(const History& history, const StudyTrial& trial) {
  std::map<std::string, double> metrics;
  for (std::size_t i = 0; i < history.metrics.size(); ++i) {
    if (!std::isnan(trial.values[i])) metrics[history.metrics[i].name] = trial.values[i];
  }
  return metrics;
}

}  // namespace

std::string KnownResult::text() const {
  return fmt::format("the same values as trial {}{}{}", trial, study.empty() ? "" : " of ", study);
}

std::optional<KnownResult> known_result(const StudyState& state, const Point& point, const std::string& fingerprint) {
  if (fingerprint == kUnknownFingerprint) return std::nullopt;
  const History& history = state.history();
  for (std::size_t i = 0; i < history.trials.size(); ++i) {
    const StudyTrial& trial = history.trials[i];
    if (trial.state != TrialState::kComplete || state.record(i).fingerprint != fingerprint) continue;
    if (are_equal(trial.point, point)) return KnownResult{"", trial.number, metrics_of(history, trial)};
  }
  if (fingerprint.empty()) return std::nullopt;
  for (const InheritedTrial& each : state.inherited()) {
    if (each.trial.state != TrialState::kComplete || each.fingerprint != fingerprint) continue;
    if (are_equal(each.trial.point, point))
      return KnownResult{each.study, each.number, metrics_of(history, each.trial)};
  }
  return std::nullopt;
}

std::int64_t repeats_in_row(const StudyState& state) {
  std::int64_t count = 0;
  for (std::size_t i = state.history().trials.size(); i-- > 0;) {
    if (state.record(i).sampler == kNamedByUser) continue;
    if (!state.history().trials[i].is_repeat) return count;
    ++count;
  }
  return count;
}

}  // namespace trainwarden::tune
