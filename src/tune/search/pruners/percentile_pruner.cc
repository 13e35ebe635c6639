#include "tune/search/pruners/percentile_pruner.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tune/search/pruners/curve.h"

namespace trainwarden::tune {
namespace {

// Linear between the two values around it; there is one at least.
double percentile_of(std::vector<double> values, double percent) {
  std::sort(values.begin(), values.end());
  const double place = percent / 100 * static_cast<double>(values.size() - 1);
  const auto index = static_cast<std::size_t>(place);
  const double part = place - static_cast<double>(index), low = values[index];
  if (part == 0 || values[index + 1] == low) return low;
  return low + part * (values[index + 1] - low);
}

struct CompleteCosts {
  std::vector<double> at_step;  // of those that have a value there
  std::int64_t trials = 0;      // all
};

CompleteCosts costs_of_complete(const History& history, std::size_t except, std::size_t metric, std::int64_t step) {
  CompleteCosts costs;
  for (std::size_t i = 0; i < history.trials.size(); ++i) {
    if (i == except || history.trials[i].state != TrialState::kComplete) continue;
    ++costs.trials;
    const double cost = cost_at_step(history, history.trials[i], metric, step);
    if (!std::isnan(cost)) costs.at_step.push_back(cost);
  }
  return costs;
}

class PercentilePruner final : public TrialPruner {
 public:
  explicit PercentilePruner(const PercentileOptions& options) : options_(options) {}
  std::string_view name() const override { return options_.percentile == 50 ? "median" : "percentile"; }

  PruneAnswer judge(const History& history, std::size_t index) override {
    const auto metric = first_objective(history);
    if (!metric) return {};
    const StudyTrial& trial = history.trials[index];
    const Curve curve = curve_of(trial, *metric);
    if (curve.empty() || curve.back().step < options_.warmup_steps) return {};
    const std::int64_t step = curve.back().step - (curve.back().step - options_.warmup_steps) % options_.interval_steps;
    if (step < curve.front().step) return {};
    const CompleteCosts others = costs_of_complete(history, index, *metric, step);
    if (others.trials < options_.startup_trials) return {};
    return compare(history.metrics[*metric], best_cost_until(history, trial, *metric, step), step, others.at_step);
  }

 private:
  PruneAnswer compare(const StudyMetric& metric, double best, std::int64_t step, const std::vector<double>& others) {
    if (std::isnan(best)) return {true, fmt::format("{} was no number up to step {}", metric.name, step)};
    if (others.empty() || static_cast<std::int64_t>(others.size()) < options_.min_trials) return {};
    const double limit = percentile_of(others, options_.percentile);
    if (!(best > limit)) return {};
    const std::string what = options_.percentile == 50 ? fmt::format("the median {}", value_text(metric, limit))
                                                       : fmt::format("{}, the limit of the best {:.4g} %",
                                                                     value_text(metric, limit), options_.percentile);
    return {true, fmt::format("{} {}, its best up to step {}, is {} {} of {} trials", metric.name,
                              value_text(metric, best), step, worse_side(metric), what, others.size())};
  }

  PercentileOptions options_;
};

}  // namespace

std::unique_ptr<TrialPruner> make_percentile_pruner(const PercentileOptions& options) {
  return std::make_unique<PercentilePruner>(options);
}

}  // namespace trainwarden::tune
