// LiveWindow: the open step of a training as rules see it.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hook/capture/step_judge.h"
#include "hook/guard/live_layout.h"
#include "trainwarden/rule.h"

namespace trainwarden::guard {

// What is the same at every step of one worker, kept from step to step. It outlives the windows.
class LiveMemory {
 public:
  LiveMemory(std::string worker, int world_size)
      : worker_(std::move(worker)), shown_worker_(world_size > 1 ? worker_ : "") {}

 private:
  friend class LiveWindow;
  // That of the rows from the mark on: one that is known, or a new one in place of the oldest.
  LiveLayout& layout_of(const capture::OpenStep& step, const RowMark& from);

  const std::string worker_;
  const std::string shown_worker_;
  SelectionBook book_;
  std::deque<LiveLayout> layouts_;  // the one used last in front
  std::vector<double> reductions_;  // of the window that there is, by tensor, reduction and abs
  std::vector<std::uint8_t> has_reduction_;
};

// One at a time for each memory. The step and the memory must outlive it.
class LiveWindow final : public StepWindow {
 public:
  // Of the rows from `from` on.
  LiveWindow(const capture::OpenStep& step, const RowMark& from, LiveMemory& memory);

  bool empty() const { return layout_.tensors().empty(); }

  std::int64_t global_step() const override { return step_.id().global_step; }
  Mode mode() const override { return step_.id().mode; }
  std::int64_t mode_step() const override { return step_.id().mode_step; }
  std::vector<std::string> workers() const override { return {memory_.worker_}; }
  std::int64_t ended_unix_ns(std::string_view) const override { return 0; }

  Result<std::span<const TensorSpot>> select(const TensorSelection& selection) const override;
  Result<const Statistics*> statistics(const TensorSpot& spot) const override;
  Result<double> reduction(const TensorSpot& spot, Reduction reduction, bool abs) const override;
  Result<std::vector<SavedReduction>> saved_reductions(const TensorSpot& spot) const override;
  Result<SharedTensorValue> value(const TensorSpot& spot) const override;  // a copy
  Result<double> scalar(const TensorSpot& spot) const override;
  Result<Shape> shape(const TensorSpot& spot) const override;
  Result<DType> dtype(const TensorSpot& spot) const override;

 private:
  Result<std::uint32_t> find(const TensorSpot& spot) const;
  const capture::StagedTensor* value_of(const LiveTensor& tensor) const;
  const journal::StatisticsRow* row_of(const LiveTensor& tensor) const;
  std::optional<double> scalar_of(const LiveTensor& tensor) const;
  std::span<const journal::ReductionRow> reductions_of(const LiveTensor& tensor) const;
  Result<Statistics> compute(const LiveTensor& tensor) const;
  Result<double> work_out(std::uint32_t place, Reduction reduction, bool abs) const;
  Result<double> product_of(const LiveTensor& tensor, bool abs) const;
  Result<const Statistics*> statistics_at(std::uint32_t place) const;

  const capture::OpenStep& step_;
  const RowMark from_;
  LiveMemory& memory_;
  LiveLayout& layout_;
  mutable std::vector<std::optional<Result<Statistics>>> computed_;  // by place; of those that were kept whole
};

}  // namespace trainwarden::guard
