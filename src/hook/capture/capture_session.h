// CaptureSession: everything behind a hook that is on, put together. It owns the parts, and says in which order they
// are called when a step begins and ends, and when the hook closes; the rest each part does for itself.
//
// May throw std::bad_alloc and the like; the hook catches.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/clock.h"
#include "hook/capture/black_box/box_recorder.h"
#include "hook/capture/budget/bill.h"
#include "hook/capture/budget/pulse.h"
#include "hook/capture/capture_plan.h"
#include "hook/capture/capture_switch.h"
#include "hook/capture/gpu/device_capture.h"
#include "hook/capture/gpu/device_keeper.h"
#include "hook/capture/known_tensors.h"
#include "hook/capture/operators/operator_capture.h"
#include "hook/capture/requests/change_applier.h"
#include "hook/capture/requests/checkpoint_calls.h"
#include "hook/capture/requests/stop_requests.h"
#include "hook/capture/saving/save_calls.h"
#include "hook/capture/saving/step_intake.h"
#include "hook/capture/staging/staging_area.h"
#include "hook/capture/step_counter.h"
#include "hook/capture/step_judging.h"
#include "hook/capture/step_times.h"
#include "hook/capture/writing/loss_tally.h"
#include "hook/capture/writing/step_assembler.h"
#include "hook/capture/writing/step_handover.h"
#include "hook/capture/writing/step_writer.h"
#include "store/journal/journal_writer.h"
#include "trainwarden/hook.h"

namespace trainwarden::capture {

// Thread rules as of Hook.
class CaptureSession {
 public:
  struct Parts {
    std::unique_ptr<CapturePlan> plan;
    std::unique_ptr<journal::JournalWriter> journal;
    StopRequests stop_requests;
    std::unique_ptr<CaptureChanges> changes;
    std::unique_ptr<CheckpointRequests> checkpoints;
    std::unique_ptr<ProfileRequests> profiles;
    std::unique_ptr<ExamineRequests> examinations;
    std::shared_ptr<storage::Storage> storage;  // kept alive for the journal; none in a dry run
    const Clock& clock;
    StepCounter& counter;             // outlives the session
    std::optional<BoxHead> box_head;  // of a run that has a black box
    std::unique_ptr<SpaceKeeper> space{};
    device::AcceleratorFactory open_accelerator = device::open_accelerator;
  };
  // Starts the writer thread. Takes staging_bytes, when_full and durability from the options. kResourceExhausted.
  static Result<std::unique_ptr<CaptureSession>> start(const HookOptions& options, Parts parts);

  const CapturePlan& plan() const { return *plan_; }
  KnownTensors& tensors() { return tensors_; }
  SaveCalls& saves() { return saves_; }
  const SaveCalls& saves() const { return saves_; }
  BoxRecorder& box() { return box_; }
  CheckpointCalls& checkpoints() { return checkpoints_; }
  OperatorCapture& operators() { return operators_; }
  const OperatorCapture& operators() const { return operators_; }
  ExamineRequests& examinations() { return *examinations_; }
  StepJudging& judging() { return judging_; }
  const StepJudging& judging() const { return judging_; }

  // Tensors that are saved meanwhile by the thread that calls are read from devices together.
  void begin_group() { devices_.begin_group(); }
  void end_group();
  void add_cost(std::chrono::nanoseconds spent) { bill_.add_ns(spent.count()); }

  // Before the first step ends; once.
  Status install(const MakeJudge& make, std::string worker, int world_size);

  void set_mode(Mode mode);
  StepEnd end_step();
  void begin_steps(std::int64_t steps) { plan_->widen(steps); }
  // Of so many steps that one call has computed. What was saved since it began stays in the open step.
  void pass_all_but_last(std::int64_t steps);
  bool end_idle_step();
  void save_step_times();
  Status flush(std::chrono::nanoseconds timeout) { return writer_.flush(timeout); }
  // Idempotent: again, it gives the same answer.
  Status close(std::chrono::nanoseconds timeout);
  bool closed() const { return closed_; }
  // The writer thread is stuck in the storage: this object must never be destroyed.
  bool stuck() const { return close_status_.code() == Code::kDeadlineExceeded; }

  // Nothing is kept any more; what is offered is counted as lost. The reason of the first call stays.
  void switch_off(std::string reason) {
    state_.switch_off(std::move(reason));
    operators_.switch_off();
  }
  void lose(LossCause cause, std::uint64_t count, std::uint64_t bytes, std::string_view message);
  HookReport report() const;

 private:
  CaptureSession(const HookOptions& options, Parts parts, std::unique_ptr<StagingArea> staging);

  void count_beside(int workers);
  void begin_step();
  StepEnd answer_to(const StepId& id) const;

  const Clock& clock_;
  StepCounter& counter_;
  const std::shared_ptr<storage::Storage> storage_;
  const std::unique_ptr<CapturePlan> plan_;
  const std::unique_ptr<StagingArea> staging_;
  CaptureSwitch state_;
  SharedLossTally losses_;
  Bill bill_;
  DeviceCapture devices_;  // these three outlive every step
  KnownTensors tensors_;
  BoxRecorder box_;
  StepAssembler step_;
  StepIntake intake_;
  DeviceKeeper device_keeper_;
  SaveCalls saves_;
  ChangeApplier changes_;  // these five outlive the writer, which calls them
  CheckpointCalls checkpoints_;
  const std::unique_ptr<ExamineRequests> examinations_;
  OperatorCapture operators_;
  StepJudging judging_;
  StepTimes step_times_;
  const bool has_budget_;
  Pulse pulse_;  // where there is a budget and somebody saves step times
  StepHandover handover_;
  StepWriter writer_;

  std::atomic<std::int64_t> steps_ = 0;
  bool closed_ = false;
  Status close_status_;
};

}  // namespace trainwarden::capture
