// OperatorCapture: what a session does about operator calls as its steps begin and end.
#pragma once

#include <atomic>
#include <memory>

#include "core/base/clock.h"
#include "hook/capture/budget/bill.h"
#include "hook/capture/operators/operator_logs.h"
#include "hook/capture/operators/operator_windows.h"
#include "hook/capture/requests/profile_requests.h"
#include "hook/capture/staging/staging_area.h"
#include "hook/capture/step_counter.h"
#include "hook/capture/writing/step_writer.h"

namespace trainwarden::capture {

// By the thread that drives training, but for recorder(), is_recording() and switch_off().
class OperatorCapture {
 public:
  // All must outlive this, but for the writer. `requests` may say what is wanted later.
  OperatorCapture(const HookOptions& options, std::unique_ptr<ProfileRequests> requests, const Clock& clock,
                  StagingArea& staging, Bill& bill, StepWriter& writer);
  ~OperatorCapture() { logs_.close(); }
  OperatorCapture(const OperatorCapture&) = delete;
  OperatorCapture& operator=(const OperatorCapture&) = delete;

  OperatorRecorder& recorder() { return logs_.recorder(); }
  bool is_recording() const { return logs_.is_recording(); }
  // And there is room for more: else nobody needs to listen any longer.
  bool wants_calls() const { return is_recording() && !logs_.is_full(); }
  // For the writer thread, which looks for them.
  ProfileRequests& requests() { return *requests_; }

  // A step may pass without begin_step() and end_step(), and the next one begin without: nothing of both is wanted.
  bool may_pass(std::int64_t step) const {
    return !is_recording() && !windows_.holds(step + 1) && !requests_->any_accepted();
  }
  // Twice is as once.
  void begin_step(std::int64_t step);
  void end_step(const StepId& id);
  // Nothing is recorded any more. From any thread.
  void switch_off() {
    off_.store(true, std::memory_order_relaxed);
    logs_.close();
  }
  // The training is over in this step: it ends, and nothing is recorded any more.
  void close(const StepId& id);

 private:
  void take_accepted(std::int64_t step);
  void say_finished(const RecordedSteps& window, std::int64_t steps, std::int64_t step);
  void hand_over(const StepId& id);

  const std::unique_ptr<ProfileRequests> requests_;
  const Clock& clock_;
  StagingArea& staging_;
  Bill& bill_;
  StepWriter& writer_;
  OperatorLogs& logs_;
  OperatorWindows windows_;
  std::atomic<bool> off_ = false;
  std::uint64_t lost_ = 0;  // of batches that the writer did not take
};

}  // namespace trainwarden::capture
