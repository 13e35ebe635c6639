#include "tune/search/history.h"

#include <algorithm>
#include <cmath>

namespace trainwarden::tune {
namespace {

std::vector<std::size_t> metrics_with(const History& history, Strategy strategy) {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < history.metrics.size(); ++i) {
    if (history.metrics[i].strategy == strategy) indices.push_back(i);
  }
  return indices;
}

double cost_of(const History& history, const StudyTrial& trial, std::size_t metric) {
  return metric < trial.values.size() ? history.metrics[metric].cost(trial.values[metric])
                                      : std::numeric_limits<double>::quiet_NaN();
}

bool dominates(const std::vector<double>& one, const std::vector<double>& other) {
  bool is_better = false;
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (one[i] > other[i]) return false;
    is_better |= one[i] < other[i];
  }
  return is_better;
}

}  // namespace

std::vector<std::size_t> History::objectives() const {
  return metrics_with(*this, Strategy::kOptimize);
}
std::vector<std::size_t> History::constraints() const {
  return metrics_with(*this, Strategy::kConstrain);
}

double violation_of(const History& history, const StudyTrial& trial) {
  double sum = 0;
  for (const std::size_t i : history.constraints()) {
    const StudyMetric& metric = history.metrics[i];
    const double missed = cost_of(history, trial, i) - metric.cost(metric.threshold.value_or(0));
    if (std::isnan(missed)) return missed;
    sum += std::max(0.0, missed);
  }
  return sum;
}

bool is_feasible(const History& history, const StudyTrial& trial) {
  if (trial.state != TrialState::kComplete || violation_of(history, trial) != 0) return false;
  const auto objectives = history.objectives();
  return std::all_of(objectives.begin(), objectives.end(),
                     [&](std::size_t i) { return std::isfinite(cost_of(history, trial, i)); });
}

std::optional<std::size_t> best_of(const History& history) {
  const auto objectives = history.objectives();
  std::optional<std::size_t> best;
  if (objectives.size() != 1) return best;
  for (std::size_t i = 0; i < history.trials.size(); ++i) {
    const StudyTrial& trial = history.trials[i];
    if (!is_feasible(history, trial)) continue;
    if (!best || cost_of(history, trial, objectives[0]) < cost_of(history, history.trials[*best], objectives[0]))
      best = i;
  }
  return best;
}

std::vector<std::size_t> pareto_front(const History& history) {
  const auto objectives = history.objectives();
  std::vector<std::size_t> feasible;
  std::vector<std::vector<double>> costs;
  for (std::size_t i = 0; i < history.trials.size(); ++i) {
    if (!is_feasible(history, history.trials[i])) continue;
    feasible.push_back(i);
    std::vector<double>& row = costs.emplace_back();
    for (const std::size_t metric : objectives) row.push_back(cost_of(history, history.trials[i], metric));
  }
  std::vector<std::size_t> front;
  for (std::size_t i = 0; i < feasible.size(); ++i) {
    const bool is_dominated =
        std::any_of(costs.begin(), costs.end(), [&](const auto& other) { return dominates(other, costs[i]); });
    if (!is_dominated) front.push_back(feasible[i]);
  }
  return front;
}

}  // namespace trainwarden::tune
