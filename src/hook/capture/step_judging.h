// StepJudging: asks the judge, if there is one, about the open step, and does what it advises.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "core/base/clock.h"
#include "hook/capture/black_box/box_recorder.h"
#include "hook/capture/budget/bill.h"
#include "hook/capture/capture_switch.h"
#include "hook/capture/gpu/device_keeper.h"
#include "hook/capture/known_tensors.h"
#include "hook/capture/step_counter.h"
#include "hook/capture/step_judge.h"
#include "hook/capture/writing/step_assembler.h"
#include "hook/capture/writing/step_writer.h"
#include "trainwarden/hook.h"

namespace trainwarden::capture {

// By the thread that drives training. It must outlive the writer, which has the judge write what it found.
class StepJudging {
 public:
  // All must outlive this, but for the writer.
  struct Around {
    KnownTensors& tensors;
    StepAssembler& step;
    DeviceKeeper& devices;
    BoxRecorder& box;
    Bill& bill;
    const CaptureSwitch& state;
    const StepCounter& counter;
    const Clock& clock;
    StepWriter& writer;
  };
  explicit StepJudging(const Around& around) : around_(around) {}

  // Once. What the judge needs is captured from the next step on that begins. kAlreadyExists, and the errors of `make`
  // and of CapturePlan::require().
  Status install(const MakeJudge& make, JudgeSite site);
  // After that: writes it to the run, and lets the writer thread call it.
  void announce();

  bool has_judge() const { return judge_ != nullptr; }
  // The judge is being asked: a step that ends now would be taken away from it.
  bool is_asking() const { return asking_; }

  // Both do nothing without a judge. When the advice is not to proceed, the black box is written with the step as it
  // was judged; when it is to stop, the run is asked to stop.
  StepAdvice judge_step();
  void step_ends();

  std::string_view reason() const { return judge_ ? std::string_view(judge_->reason()) : std::string_view(); }
  std::uint64_t vetoes() const { return judge_ ? judge_->vetoes() : 0; }

 private:
  StepAdvice ask(StepAdvice (StepJudge::*question)(const OpenStep& step));
  void act_on(StepAdvice advice);

  const Around around_;
  std::unique_ptr<StepJudge> judge_;
  bool asking_ = false;
};

}  // namespace trainwarden::capture
