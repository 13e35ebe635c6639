// StepHandover: takes the step that ends to the writer, or counts all of it as lost.
#pragma once

#include <memory>

#include "hook/capture/budget/bill.h"
#include "hook/capture/gpu/device_capture.h"
#include "hook/capture/saving/step_intake.h"
#include "hook/capture/step_counter.h"
#include "hook/capture/writing/step_writer.h"

namespace trainwarden::capture {

// By the thread that drives training.
class StepHandover {
 public:
  // All must outlive this, but for the writer.
  StepHandover(StepIntake& intake, DeviceCapture& devices, Bill& bill, StepWriter& writer)
      : intake_(intake), devices_(devices), bill_(bill), writer_(writer) {}

  void end_step(const StepId& id);

 private:
  void submit(std::unique_ptr<StagedStep> step);

  StepIntake& intake_;
  DeviceCapture& devices_;
  Bill& bill_;
  StepWriter& writer_;
};

}  // namespace trainwarden::capture
