// TrialWindow: a step of a run as rules see it. What several rules ask is looked up once.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rules/step_place.h"
#include "trainwarden/rule.h"
#include "trainwarden/trial.h"

namespace trainwarden::rules {

// One thread at a time. `trial` must outlive it.
class TrialWindow final : public StepWindow {
 public:
  TrialWindow(Trial& trial, std::int64_t global_step);

  std::int64_t global_step() const override { return place_.global_step; }
  Mode mode() const override { return place_.mode; }
  std::int64_t mode_step() const override { return place_.mode_step; }
  std::vector<std::string> workers() const override { return trial_.workers(); }
  std::int64_t ended_unix_ns(std::string_view worker) const override;

  Result<std::span<const TensorSpot>> select(const TensorSelection& selection) const override;
  Result<const Statistics*> statistics(const TensorSpot& spot) const override;
  Result<double> reduction(const TensorSpot& spot, Reduction reduction, bool abs) const override;
  Result<std::vector<SavedReduction>> saved_reductions(const TensorSpot& spot) const override;
  Result<SharedTensorValue> value(const TensorSpot& spot) const override;
  Result<double> scalar(const TensorSpot& spot) const override;
  Result<Shape> shape(const TensorSpot& spot) const override;

  Trial* trial() const override { return &trial_; }

 private:
  using SpotKey = std::pair<std::string, std::string>;  // tensor, worker

  Trial& trial_;
  const StepPlace place_;
  mutable std::map<TensorSelection, std::vector<TensorSpot>> selected_;
  mutable std::map<SpotKey, Result<Statistics>> statistics_;
};

}  // namespace trainwarden::rules
