#include "tune/search/pruners/asha_pruner.h"

#include "tune/search/pruners/curve.h"
#include "tune/search/pruners/fidelity.h"
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
    const auto first = options_.min_resource ? options_.min_resource : least_rung(history, *metric);
    if (!first) return judge_newest(history, trial, *metric);
    const Rungs rungs = Rungs{*first, options_.reduction_factor}.without(options_.early_stopping);
    return judge_at_rung(history, trial, *metric, rungs, trusted_.of(history), [](std::size_t) { return true; });
  }

 private:
  AshaOptions options_;
  TrustedStep trusted_;
};

}  // namespace

std::unique_ptr<TrialPruner> make_asha_pruner(const AshaOptions& options) {
  return std::make_unique<AshaPruner>(options);
}

}  // namespace trainwarden::tune
