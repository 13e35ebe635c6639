#include "tune/search/pruners/dominated_pruner.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tune/search/pruners/curve.h"
#include "tune/search/pruners/rungs.h"

namespace trainwarden::tune {
namespace {

// Of each objective; NaN where one is not known.
std::vector<double> costs_at_step(const History& history, const StudyTrial& trial,
                                  const std::vector<std::size_t>& objectives, std::int64_t step) {
  std::vector<double> costs;
  for (const std::size_t metric : objectives) costs.push_back(cost_at_step(history, trial, metric, step));
  return costs;
}

// As good in all and better in one; an unknown cost is not as good as any.
bool beats(const std::vector<double>& one, const std::vector<double>& other) {
  bool is_better = false;
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (!(one[i] <= other[i])) return false;
    is_better |= one[i] < other[i];
  }
  return is_better;
}

// What complete trials gained from a step to their ends.
std::vector<double> gains_from(const History& history, std::size_t metric, std::int64_t step) {
  std::vector<double> gains;
  for (const StudyTrial& trial : history.trials) {
    const Curve curve = curve_of(trial, metric);
    if (trial.state != TrialState::kComplete || curve.empty() || curve.back().step < step) continue;
    const double gain =
        cost_at_step(history, trial, metric, step) - sound_cost(history.metrics[metric], curve.back().value);
    if (std::isfinite(gain)) gains.push_back(gain);
  }
  return gains;
}

// The most that one more trial may be expected to gain; there are gains.
double most_to_gain(const std::vector<double>& gains, double deviations) {
  const auto count = static_cast<double>(gains.size());
  double mean = 0, squares = 0;
  for (const double gain : gains) mean += gain / count;
  for (const double gain : gains) squares += (gain - mean) * (gain - mean);
  const double deviation = count > 1 ? std::sqrt(squares / (count - 1) * (1 + 1 / count)) : 0;
  return std::max(*std::max_element(gains.begin(), gains.end()), mean + deviations * deviation);
}

class DominatedPruner final : public TrialPruner {
 public:
  explicit DominatedPruner(const DominatedOptions& options) : options_(options) {}
  std::string_view name() const override { return "dominated"; }

  PruneAnswer judge(const History& history, std::size_t trial) override {
    const std::vector<std::size_t> objectives = history.objectives();
    if (objectives.empty()) return {};
    const std::string missed = missed_threshold(history, history.trials[trial]);
    if (missed.empty()) return {};
    const auto rung = common_rung(history, trial, objectives);
    if (!rung) return {};
    const auto own = costs_at_step(history, history.trials[trial], objectives, *rung);
    for (std::size_t i = 0; i < history.trials.size(); ++i) {
      if (i == trial || !is_comparable(history.trials[i])) continue;
      const auto other = costs_at_step(history, history.trials[i], objectives, *rung);
      if (!beats(other, own)) continue;
      return {true, fmt::format("{}; and trial {} was better at step {} ({})", missed, history.trials[i].number, *rung,
                                comparison(history, objectives, other, own))};
    }
    return {};
  }

 private:
  // The last that the trial has reached in all objectives.
  std::optional<std::int64_t> common_rung(const History& history, std::size_t trial,
                                          const std::vector<std::size_t>& objectives) const {
    const auto first = options_.min_resource ? options_.min_resource : least_rung(history, objectives[0]);
    if (!first) return std::nullopt;
    std::int64_t step = std::numeric_limits<std::int64_t>::max();
    for (const std::size_t metric : objectives) {
      const Curve curve = curve_of(history.trials[trial], metric);
      if (curve.empty()) return std::nullopt;
      step = std::min(step, curve.back().step);
    }
    return Rungs{*first, options_.reduction_factor}.last_at(step);
  }

  // A sentence of the first threshold that cannot be met; empty: there is none.
  std::string missed_threshold(const History& history, const StudyTrial& trial) const {
    for (std::size_t i = 0; i < history.metrics.size(); ++i) {
      const StudyMetric& metric = history.metrics[i];
      const Curve curve = curve_of(trial, i);
      if (metric.strategy == Strategy::kStore || !metric.threshold || curve.empty()) continue;
      const double newest = sound_cost(metric, curve.back().value);
      const std::vector<double> gains = gains_from(history, i, curve.back().step);
      if (!std::isfinite(newest) || static_cast<std::int64_t>(gains.size()) < options_.min_trials) continue;
      const double hope = newest - most_to_gain(gains, options_.deviations);
      if (!(hope > metric.cost(*metric.threshold))) continue;
      return fmt::format("{} can become {} at best, by what {} trials gained from there on, and misses {:.4g}",
                         value_text(metric, newest, curve.back().step), value_text(metric, hope), gains.size(),
                         *metric.threshold);
    }
    return {};
  }

  // "loss 0.2 against 0.3, size 4 against 4"
  static std::string comparison(const History& history, const std::vector<std::size_t>& objectives,
                                const std::vector<double>& one, const std::vector<double>& other) {
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < objectives.size(); ++i) {
      const StudyMetric& metric = history.metrics[objectives[i]];
      parts.push_back(
          fmt::format("{} {} against {}", metric.name, value_text(metric, one[i]), value_text(metric, other[i])));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
  }

  DominatedOptions options_;
};

}  // namespace

std::unique_ptr<TrialPruner> make_dominated_pruner(const DominatedOptions& options) {
  return std::make_unique<DominatedPruner>(options);
}

}  // namespace trainwarden::tune
