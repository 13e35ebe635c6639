#include "tune/search/pruners/threshold_pruner.h"

#include <fmt/format.h>

#include "tune/search/pruners/curve.h"

namespace trainwarden::tune {
namespace {

class ThresholdPruner final : public TrialPruner {
 public:
  explicit ThresholdPruner(const ThresholdOptions& options) : options_(options) {}
  std::string_view name() const override { return "threshold"; }

  PruneAnswer judge(const History& history, std::size_t trial) override {
    const auto metric = first_objective(history);
    if (!metric) return {};
    const Curve curve = curve_of(history.trials[trial], *metric);
    if (curve.empty() || curve.back().step < options_.warmup_steps) return {};
    const auto& [step, value] = curve.back();
    const std::string& what = history.metrics[*metric].name;
    if (options_.min && value < *options_.min) {
      return {true, fmt::format("{} {:.4g} at step {} is below {:.4g}", what, value, step, *options_.min)};
    }
    if (options_.max && value > *options_.max) {
      return {true, fmt::format("{} {:.4g} at step {} is above {:.4g}", what, value, step, *options_.max)};
    }
    return judge_newest(history, trial, *metric);
  }

 private:
  ThresholdOptions options_;
};

}  // namespace

std::unique_ptr<TrialPruner> make_threshold_pruner(const ThresholdOptions& options) {
  return std::make_unique<ThresholdPruner>(options);
}

}  // namespace trainwarden::tune
