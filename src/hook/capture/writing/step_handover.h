// StepHandover: takes the step that ends to the writer, or counts all of it as lost. Of a large step parts go ahead, so
// that the writer begins early, and the memory of what is written serves what is saved next.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>

#include "hook/capture/budget/bill.h"
#include "hook/capture/gpu/device_capture.h"
#include "hook/capture/saving/step_intake.h"
#include "hook/capture/staging/staging_area.h"
#include "hook/capture/step_counter.h"
#include "hook/capture/writing/step_writer.h"

namespace trainwarden::capture {

// By the thread that drives training.
class StepHandover {
 public:
  // All must outlive this, but for the writer.
  StepHandover(StepIntake& intake, DeviceCapture& devices, const StepCounter& counter, const StagingArea& staging,
               Bill& bill, StepWriter& writer)
      : intake_(intake),
        devices_(devices),
        counter_(counter),
        part_bytes_(std::min(kMaxPartBytes, staging.capacity_bytes() / kMinParts)),
        bill_(bill),
        writer_(writer) {}

  // Somebody looks into steps before they end. Before the first step.
  void keep_steps_whole() { whole_ = true; }
  // From any thread, after each tensor: does nothing while there is little, nor in another thread than that which
  // drives training. The step stays open.
  void hand_over_part() {
    if (intake_.step().kept_bytes() >= part_bytes_) take_part();
  }
  void end_step(const StepId& id);

 private:
  // Of tensors, and so much more as the last of them takes. Smaller ones would keep the writer busy with little.
  static constexpr std::size_t kMaxPartBytes = std::size_t{16} << 20;
  static constexpr std::size_t kMinParts = 4;  // that have room at once: while one is written, others fill

  void take_part();
  void submit(std::unique_ptr<StagedStep> step);

  StepIntake& intake_;
  DeviceCapture& devices_;
  const StepCounter& counter_;
  const std::size_t part_bytes_;
  Bill& bill_;
  StepWriter& writer_;
  bool whole_ = false;
  std::atomic<std::thread::id> driver_ = std::this_thread::get_id();
};

}  // namespace trainwarden::capture
