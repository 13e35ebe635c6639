#include "tune/search/pruners/asha_pruner.h"

#include "tune/search/pruners/curve.h"
#include "tune/search/pruners/fidelity.h"
#include "tune/search/pruners/promotion.h"
#include "tune/search/pruners/rungs.h"

namespace trainwarden::tune {
namespace {

class AshaPruner final : public TrialPruner {
 public:
  explicit AshaPruner(const AshaOptions& options) : options_(options), trusted_(options.check_fidelity) {}
  std::string_view name() const override { return "asha"; }

  PruneAnswer judge(const History& history, std::size_t trial) override {
    const auto metric = first_objective(history);
    if (!metric) return {};
    const auto rungs = rungs_of(history, *metric);
    if (!rungs) return judge_newest(history, trial, *metric);
    const auto judge = options_.pause ? judge_arrival : judge_at_rung;
    return judge(history, trial, *metric, *rungs, trusted_.of(history), is_any);
  }

  bool pauses() const override { return options_.pause; }
  std::optional<Promotion> next_promotion(const History& history, bool is_last) override {
    const auto metric = first_objective(history);
    const auto rungs = metric ? rungs_of(history, *metric) : std::nullopt;
    if (!options_.pause || !rungs) return {};
    return best_promotion(history, *metric, {{*rungs, is_any}}, is_last);
  }

 private:
  static bool is_any(std::size_t /*trial*/) { return true; }
  std::optional<Rungs> rungs_of(const History& history, std::size_t metric) const {
    const auto first = options_.min_resource ? options_.min_resource : least_rung(history, metric);
    if (!first) return {};
    return Rungs{*first, options_.reduction_factor}.without(options_.early_stopping);
  }

  AshaOptions options_;
  TrustedStep trusted_;
};

}  // namespace

std::unique_ptr<TrialPruner> make_asha_pruner(const AshaOptions& options) {
  return std::make_unique<AshaPruner>(options);
}

}  // namespace trainwarden::tune
