#include "tune/search/pruners/wilcoxon_pruner.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tune/search/pruners/curve.h"
#include "tune/search/pruners/signed_ranks.h"

namespace trainwarden::tune {
namespace {

const StudyTrial* best_with_curve(const History& history, std::size_t except, std::size_t metric) {
  const StudyTrial* best = nullptr;
  for (std::size_t i = 0; i < history.trials.size(); ++i) {
    const StudyTrial& trial = history.trials[i];
    if (i == except || curve_of(trial, metric).empty() || !is_feasible(history, trial)) continue;
    const StudyMetric& what = history.metrics[metric];
    if (best == nullptr || what.cost(trial.values[metric]) < what.cost(best->values[metric])) best = &trial;
  }
  return best;
}

bool all_finite(Curve curve) {
  return std::all_of(curve.begin(), curve.end(), [](const Intermediate& each) { return std::isfinite(each.value); });
}

double mean_cost(const StudyMetric& metric, Curve curve) {
  double sum = 0;
  for (const Intermediate& each : curve) sum += metric.cost(each.value);
  return sum / static_cast<double>(curve.size());
}

// Of costs, at the steps that both have.
std::vector<double> differences_of(const StudyMetric& metric, Curve one, Curve other) {
  std::vector<double> differences;
  for (std::size_t i = 0, j = 0; i < one.size() && j < other.size();) {
    if (one[i].step == other[j].step) {
      differences.push_back(metric.cost(one[i].value) - metric.cost(other[j].value));
      ++i, ++j;
    } else {
      ++(one[i].step < other[j].step ? i : j);
    }
  }
  return differences;
}

class WilcoxonPruner final : public TrialPruner {
 public:
  explicit WilcoxonPruner(const WilcoxonOptions& options) : options_(options) {}
  std::string_view name() const override { return "wilcoxon"; }

  PruneAnswer judge(const History& history, std::size_t trial) override {
    const auto metric = first_objective(history);
    if (!metric) return {};
    const Curve own = curve_of(history.trials[trial], *metric);
    const StudyTrial* best = own.empty() ? nullptr : best_with_curve(history, trial, *metric);
    if (best == nullptr) return {};
    const Curve bests = curve_of(*best, *metric);
    if (!all_finite(own) || !all_finite(bests)) return {};
    const StudyMetric& what = history.metrics[*metric];
    const std::vector<double> differences = differences_of(what, own, bests);
    if (static_cast<std::int64_t>(differences.size()) < options_.startup_steps) return {};
    const double own_mean = mean_cost(what, own), best_mean = mean_cost(what, bests);
    const double p = signed_rank_p(differences);
    if (own_mean <= best_mean || !(p < options_.p_threshold)) return {};
    return {true,
            fmt::format("{}, mean {} so far, is worse than trial {} (mean {}) on {} common steps, p {:.2g} below {}",
                        what.name, value_text(what, own_mean), best->number, value_text(what, best_mean),
                        differences.size(), p, options_.p_threshold)};
  }

 private:
  WilcoxonOptions options_;
};

}  // namespace

std::unique_ptr<TrialPruner> make_wilcoxon_pruner(const WilcoxonOptions& options) {
  return std::make_unique<WilcoxonPruner>(options);
}

}  // namespace trainwarden::tune
