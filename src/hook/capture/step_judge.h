// StepJudge: who judges a step while it is still open, before its gradients become weights.
//
// The hook shows what has been staged; what follows from it, and what is written down, is up to the judge
// (src/hook/guard).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "hook/capture/capture_plan.h"
#include "hook/capture/staging/staged_step.h"
#include "hook/capture/step_counter.h"
#include "hook/capture/tensor_table.h"
#include "store/storage/storage.h"
#include "trainwarden/hook.h"
#include "trainwarden/status.h"

namespace trainwarden::capture {

// What the open step holds, in the order of saving. Valid during the call that it is given to; rows that other threads
// save meanwhile are not in it. Tensors from devices are among the rows.
class OpenStep {
 public:
  OpenStep(const StepId& id, const StagedRows& rows, const TensorTable& tensors, const CapturePlan& plan)
      : id_(id), rows_(rows), tensors_(tensors), plan_(plan) {}

  const StepId& id() const { return id_; }
  std::span<const StagedTensor> tensors() const { return rows_.tensors; }
  std::span<const journal::StatisticsRow> statistics() const { return rows_.statistics; }
  std::span<const journal::ScalarRow> scalars() const { return rows_.scalars; }
  std::span<const journal::ReductionRow> reductions() const { return rows_.reductions; }

  const std::string& name_of(std::uint32_t id) const { return tensors_.find(TensorId{id})->name; }
  // Tensors with the same membership belong to the same collections, as long as the hook.
  const Membership& membership_of(std::uint32_t id) const {
    return *tensors_.find(TensorId{id})->membership.load(std::memory_order_acquire);
  }
  std::vector<std::string> collections_of(const Membership& membership) const { return plan_.names_of(membership); }

 private:
  const StepId id_;
  const StagedRows& rows_;
  const TensorTable& tensors_;
  const CapturePlan& plan_;
};

class StepJudge {
 public:
  virtual ~StepJudge() = default;

  // What it needs to be captured, at every step. When it may veto, no budget leaves that out.
  virtual std::vector<Collection> needs() const = 0;
  virtual bool may_veto() const = 0;
  // The event that is written to the run, as JSON (docs/format/records.md).
  virtual std::string announcement() const = 0;

  // In the thread that drives training. An optimizer is about to step.
  virtual StepAdvice judge(const OpenStep& step) = 0;
  // The same thread: the step is about to end. kSkipStep means nothing here.
  virtual StepAdvice step_ends(const OpenStep& step) = 0;
  // Why the last advice was not kProceed. The same thread.
  virtual const std::string& reason() const = 0;
  // Optimizer steps that were to be left out.
  virtual std::uint64_t vetoes() const = 0;

  // In the writer thread, after each step that was written and when there is nothing to do: writes what was found.
  virtual void write() = 0;
  // In the writer thread, when the hook closes: the last call.
  virtual void finish() = 0;
};

// Where a judge finds itself.
struct JudgeSite {
  std::shared_ptr<storage::Storage> storage;  // of the run; null in a dry run
  const Clock& clock;                         // outlives the judge
  std::string worker;                         // "rank-00000"
  int world_size = 1;
};

using MakeJudge = std::function<Result<std::unique_ptr<StepJudge>>(JudgeSite site)>;

}  // namespace trainwarden::capture
