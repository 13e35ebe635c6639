#include "tune/search/gp/observations.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tune/search/gp/kernel.h"

namespace trainwarden::tune {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

double final_cost(const History& history, const StudyTrial& trial, std::size_t metric) {
  if (trial.state != TrialState::kComplete || metric >= trial.values.size()) return kUnknown;
  return history.metrics[metric].cost(trial.values[metric]);
}

double last_cost(const History& history, const StudyTrial& trial, std::size_t metric) {
  if (metric >= trial.series.size() || trial.series[metric].empty()) return kUnknown;
  return history.metrics[metric].cost(trial.series[metric].back().value);
}

double median_of(std::vector<double> values) {
  values.erase(std::remove_if(values.begin(), values.end(), [](double value) { return std::isnan(value); }),
               values.end());
  if (values.empty()) return kUnknown;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// NaN is the worst.
bool is_less(double one, double other) {
  return std::isnan(other) ? !std::isnan(one) : one < other;
}

// Of each trial, the sum over the objectives of how many are better, those that miss constraints last.
std::vector<double> badness_of(const History& history, const std::vector<std::size_t>& trials) {
  std::vector<double> sum(trials.size(), 0);
  for (const std::size_t metric : history.objectives()) {
    const std::vector<double> costs = observed_costs(history, trials, metric);
    std::vector<double> sorted = costs;
    std::sort(sorted.begin(), sorted.end(), is_less);
    for (std::size_t i = 0; i < costs.size(); ++i) {
      const auto place = std::lower_bound(sorted.begin(), sorted.end(), costs[i], is_less);
      sum[i] += static_cast<double>(place - sorted.begin());
    }
  }
  const auto last = static_cast<double>(trials.size() * history.metrics.size());
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (!is_feasible(history, history.trials[trials[i]])) sum[i] += last;
  }
  return sum;
}

std::vector<std::size_t> best_and_newest(const History& history, const std::vector<std::size_t>& trials,
                                         std::size_t most) {
  const std::vector<double> badness = badness_of(history, trials);
  std::vector<std::size_t> order(trials.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto one, auto other) { return badness[one] < badness[other]; });
  std::vector<bool> is_kept(trials.size(), false);
  std::size_t kept = std::min(kKeptBest, most / 2);
  for (std::size_t i = 0; i < kept; ++i) is_kept[order[i]] = true;
  for (std::size_t i = trials.size(); i-- > 0 && kept < most;) {
    if (!is_kept[i]) ++kept;
    is_kept[i] = true;
  }
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (is_kept[i]) result.push_back(trials[i]);
  }
  return result;
}

}  // namespace

std::vector<double> observed_costs(const History& history, const std::vector<std::size_t>& trials, std::size_t metric) {
  std::vector<double> costs;
  for (const std::size_t i : trials) costs.push_back(final_cost(history, history.trials[i], metric));
  const double median = median_of(costs);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const StudyTrial& trial = history.trials[trials[i]];
    if (!trial.counts_by_last_value()) continue;
    const double last = last_cost(history, trial, metric);
    costs[i] = std::isnan(last) || last > median ? last : median;
  }
  return costs;
}

std::vector<std::size_t> observed_trials(const History& history, std::size_t most) {
  std::vector<std::size_t> trials;
  for (std::size_t i = 0; i < history.trials.size(); ++i) {
    const StudyTrial& trial = history.trials[i];
    const bool counts = (trial.is_over() && !trial.is_repeat) || trial.counts_by_last_value();
    if (counts && trial.point.size() == history.space.size()) trials.push_back(i);
  }
  return trials.size() > most ? best_and_newest(history, trials, most) : trials;
}

std::vector<std::size_t> pending_trials(const History& history, std::int64_t number) {
  std::vector<std::size_t> trials;
  for (std::size_t i = history.trials.size(); i-- > 0 && trials.size() < kMaxPending;) {
    const StudyTrial& trial = history.trials[i];
    const bool is_pending = !trial.is_over() && !trial.counts_by_last_value();
    if (is_pending && trial.number != number && trial.point.size() == history.space.size()) trials.push_back(i);
  }
  return trials;
}

Eigen::MatrixXd rows_of(const History& history, const std::vector<std::size_t>& trials) {
  Eigen::MatrixXd rows(static_cast<Eigen::Index>(trials.size()), static_cast<Eigen::Index>(history.space.size()));
  for (std::size_t i = 0; i < trials.size(); ++i) {
    rows.row(static_cast<Eigen::Index>(i)) = positions_of(history.space, history.trials[trials[i]].point);
  }
  return rows;
}

}  // namespace trainwarden::tune
