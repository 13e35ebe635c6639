// What the tests of a hook's parts stand on: an open step, and a writer whose journal obeys the test.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>

#include <gtest/gtest.h>

#include "core/base/log.h"
#include "hook/capture/budget/bill.h"
#include "hook/capture/capture_plan.h"
#include "hook/capture/capture_switch.h"
#include "hook/capture/capture_testing.h"
#include "hook/capture/gpu/device_capture.h"
#include "hook/capture/known_tensors.h"
#include "hook/capture/saving/step_intake.h"
#include "hook/capture/staging/staging_area.h"
#include "hook/capture/step_counter.h"
#include "hook/capture/writing/step_assembler.h"
#include "hook/capture/writing/step_writer.h"

namespace trainwarden::capture {

// Of a hook without options.
class OpenStepTest : public testing::Test {
 protected:
  explicit OpenStepTest(std::size_t staging_bytes = std::size_t{1} << 20)
      : staging_(*StagingArea::create(staging_bytes)) {}

  TensorEntry& entry(std::string_view name = "x") { return *tensors_.find_or_add(name); }
  StepIntake intake(WhenFull when_full) { return {when_full, *staging_, step_, losses_, state_}; }

  const std::unique_ptr<StagingArea> staging_;
  const std::unique_ptr<CapturePlan> plan_ = *CapturePlan::resolve(HookOptions());
  StepCounter counter_;
  CaptureSwitch state_;
  SharedLossTally losses_;
  Bill bill_{0, system_clock()};
  DeviceCapture devices_{device::open_accelerator, *staging_};
  KnownTensors tensors_{*plan_};
  StepAssembler step_{*staging_, tensors_.table(), *plan_};
};

// The writer thread has started. What its journal logs is not printed.
class WrittenStepTest : public OpenStepTest {
 protected:
  explicit WrittenStepTest(std::size_t staging_bytes = std::size_t{1} << 20) : OpenStepTest(staging_bytes) {
    set_log_sink([](LogLevel, std::string_view) {});
    EXPECT_TRUE(writer_.start().ok());
  }
  ~WrittenStepTest() override {
    journal_.release();
    EXPECT_TRUE(finish().ok());
    set_log_sink(nullptr);
  }

  Status finish() {
    if (!finished_) status_ = writer_.finish(nullptr, std::chrono::seconds(30));
    finished_ = true;
    return status_;
  }

  FakeJournal journal_;
  CaptureChanges changes_{nullptr, HookOptions(), {}};
  StepWriter writer_{std::make_unique<JournalFeed>(journal_.create(), StopRequests(nullptr, {}), changes_,
                                                   Durability::kNone, counter_, system_clock(), losses_)};

 private:
  bool finished_ = false;
  Status status_;
};

}  // namespace trainwarden::capture
