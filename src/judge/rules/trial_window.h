// TrialWindow: a step of a run as rules see it. What several rules ask is looked up once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "judge/rules/step_place.h"
#include "judge/rules/trial_memory.h"
#include "trainwarden/rule.h"
#include "trainwarden/trial.h"

namespace trainwarden::rules {

// One thread at a time. Valid until the trial's next refresh.
class TrialWindow final : public StepWindow {
 public:
  // `trial` and `memory` must outlive it; one window at a time for each memory. Without one what is common to steps is
  // found again.
  TrialWindow(Trial& trial, std::int64_t global_step, TrialMemory* memory = nullptr);

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
  Result<DType> dtype(const TensorSpot& spot) const override;

  Trial* trial() const override { return &trial_; }

 private:
  struct WorkerEnd {
    std::string_view worker;
    std::int64_t unix_ns = 0;
  };
  void read_records();
  std::optional<std::uint32_t> find(const TensorSpot& spot) const;
  const journal::Record* record(std::uint32_t place, journal::RecordForm form) const;
  journal::JournalReader& reader(std::uint32_t place) const { return workers_[tensor(place).worker].worker->reader(); }
  const PlacedTensor& tensor(std::uint32_t place) const { return layout_->tensors()[place]; }
  Result<Statistics> read_statistics(const TensorSpot& spot, std::uint32_t place) const;
  Result<const Statistics*> statistics_at(const TensorSpot& spot, std::uint32_t place) const;
  Result<double> work_out(const TensorSpot& spot, std::uint32_t place, Reduction reduction, bool abs) const;

  Trial& trial_;
  const StepPlace place_;
  const std::unique_ptr<TrialMemory> own_memory_;
  TrialMemory& memory_;
  std::vector<WorkerRecords> workers_;  // that hold something of the step
  std::vector<WorkerEnd> ends_;         // of the workers that ended the step, by name
  Status damage_;                       // of a worker, when none holds anything
  StepLayout* layout_ = nullptr;
  mutable std::vector<std::optional<Result<Statistics>>> statistics_;  // by place
};

}  // namespace trainwarden::rules
