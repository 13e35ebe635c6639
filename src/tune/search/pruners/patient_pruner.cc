#include "tune/search/pruners/patient_pruner.h"

#include <cmath>

#include <fmt/format.h>

#include "tune/search/pruners/curve.h"

namespace trainwarden::tune {
namespace {

class PatientPruner final : public TrialPruner {
 public:
  PatientPruner(const PatientOptions& options, std::unique_ptr<TrialPruner> wrapped)
      : options_(options),
        wrapped_(std::move(wrapped)),
        name_(wrapped_ == nullptr ? "patient" : fmt::format("patient+{}", wrapped_->name())) {}
  std::string_view name() const override { return name_; }

  PruneAnswer judge(const History& history, std::size_t index) override {
    const auto metric = first_objective(history);
    if (!metric) return {};
    const StudyTrial& trial = history.trials[index];
    const Curve curve = curve_of(trial, *metric);
    if (curve.empty()) return {};
    const std::int64_t newest = curve.back().step;
    const double before = best_cost_until(history, trial, *metric, newest - options_.patience);
    const double all = best_cost_until(history, trial, *metric, newest);
    if (!std::isfinite(before) || all < before - options_.min_delta) return {};
    if (wrapped_ != nullptr) return wrapped_->judge(history, index);
    const StudyMetric& what = history.metrics[*metric];
    return {true, fmt::format("{} has gained nothing on {} in the {} steps up to step {}", what.name,
                              value_text(what, before), options_.patience, newest)};
  }

  bool pauses() const override { return wrapped_ != nullptr && wrapped_->pauses(); }
  std::optional<Promotion> next_promotion(const History& history, bool is_last) override {
    return pauses() ? wrapped_->next_promotion(history, is_last) : std::nullopt;
  }

 private:
  PatientOptions options_;
  std::unique_ptr<TrialPruner> wrapped_;
  std::string name_;
};

}  // namespace

std::unique_ptr<TrialPruner> make_patient_pruner(const PatientOptions& options, std::unique_ptr<TrialPruner> wrapped) {
  return std::make_unique<PatientPruner>(options, std::move(wrapped));
}

}  // namespace trainwarden::tune
