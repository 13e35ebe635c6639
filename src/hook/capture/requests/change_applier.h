// ChangeApplier: lets what others ask to have captured take effect when a step begins, and writes that to the run.
#pragma once

#include <memory>

#include "hook/capture/budget/bill.h"
#include "hook/capture/known_tensors.h"
#include "hook/capture/requests/capture_changes.h"
#include "hook/capture/step_counter.h"
#include "hook/capture/writing/step_writer.h"

namespace trainwarden::capture {

// By the thread that drives training.
class ChangeApplier {
 public:
  // All must outlive this, but for the writer.
  ChangeApplier(std::unique_ptr<CaptureChanges> changes, KnownTensors& tensors, Bill& bill, const StepCounter& counter,
                StepWriter& writer)
      : changes_(std::move(changes)), tensors_(tensors), bill_(bill), counter_(counter), writer_(writer) {}

  // For the writer thread, which looks for them.
  CaptureChanges& changes() { return *changes_; }
  // Before the first step and before the writer starts: requests of before this process, or of before this worker came.
  void look_for_earlier();

  bool any_accepted() const { return changes_->any_accepted(); }
  // Before a step begins: what was accepted holds from this step on.
  void apply_accepted();

 private:
  void apply();

  const std::unique_ptr<CaptureChanges> changes_;
  KnownTensors& tensors_;
  Bill& bill_;
  const StepCounter& counter_;
  StepWriter& writer_;
};

}  // namespace trainwarden::capture
