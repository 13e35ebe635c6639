#include "hook/capture/operators/operator_capture.h"

#include <algorithm>
#include <utility>

#include "hook/capture/operators/operator_batch.h"

namespace trainwarden::capture {
namespace {

// What recording one costs the training, measured (bench/profiler_bench.cc).
constexpr std::int64_t kCallCostNs = 300;

}  // namespace

OperatorCapture::OperatorCapture(const HookOptions& options, std::unique_ptr<ProfileRequests> requests,
                                 const Clock& clock, StagingArea& staging, Bill& bill, StepWriter& writer)
    : requests_(std::move(requests)),
      clock_(clock),
      staging_(staging),
      bill_(bill),
      writer_(writer),
      logs_(OperatorLogs::create()) {
  if (options.operators.steps > 0) windows_.add(window_of(options.operators, options.first_global_step));
}

void OperatorCapture::begin_step(std::int64_t step) {
  if (requests_->any_accepted()) take_accepted(step);
  for (const RecordedSteps& window : windows_.take_over(step))
    say_finished(window, std::min(window.steps, step - window.first), step);
  const bool wanted = windows_.holds(step) && !off_.load(std::memory_order_relaxed);
  if (wanted != is_recording()) {
    const Bill::Timer timer(bill_);
    if (wanted) {
      logs_.open(clock_);
    } else {
      logs_.close();
    }
  }
  if (wanted) logs_.set_room(windows_.room(step));
}

// A worker that is beyond the first step begins with its next one.
void OperatorCapture::take_accepted(std::int64_t step) {
  for (format::ProfileEvent& event : requests_->take_accepted()) {
    event.first_step = std::max(step, event.first_step);
    event.global_step = step;
    if (!windows_.add({.first = event.first_step, .steps = event.steps, .key = event.key})) {
      event.state = format::ProfileState::kRefused;
      event.error = "too many requests wait for their steps";
    }
    writer_.enqueue(format::encode_profile_event(event));
  }
}

void OperatorCapture::say_finished(const RecordedSteps& window, std::int64_t steps, std::int64_t step) {
  if (window.key.empty()) return;
  format::ProfileEvent event{.state = format::ProfileState::kFinished,
                             .key = window.key,
                             .first_step = window.first,
                             .steps = steps,
                             .global_step = step,
                             .calls = window.calls};
  if (steps <= 0) {
    event.state = format::ProfileState::kRefused;
    event.steps = window.steps;
    event.error = "the training ended before the first of these steps";
  }
  writer_.enqueue(format::encode_profile_event(event));
}

void OperatorCapture::end_step(const StepId& id) {
  if (!is_recording()) return;
  const Bill::Timer timer(bill_);
  hand_over(id);
}

void OperatorCapture::hand_over(const StepId& id) {
  CollectedCalls calls = logs_.take();
  calls.lost += std::exchange(lost_, 0);
  const std::uint64_t logged = calls.count();
  bill_.add_ns(static_cast<std::int64_t>(logged) * kCallCostNs + calls.stacks.cost_ns);
  // The beginning of a step tells less than whole steps do.
  if (logs_.is_full() && windows_.has_calls(id.global_step)) calls.lose_calls();
  const std::uint64_t count = calls.count();
  windows_.count(id.global_step, static_cast<std::int64_t>(logged), static_cast<std::int64_t>(count));
  const std::uint64_t kept = count + calls.stacks.count();
  if (kept == 0 && calls.lost == 0 && calls.memory.empty()) return;
  lost_ = kept + calls.lost;
  auto step = std::make_unique<StagedStep>(staging_);
  step->operators = std::make_unique<StepCalls>(StepCalls{id, std::move(calls), logs_.names(), logs_.stacks().names()});
  if (writer_.submit(step, false)) lost_ = 0;
}

void OperatorCapture::close(const StepId& id) {
  if (is_recording()) hand_over(id);
  logs_.close();
  take_accepted(id.global_step);
  for (const RecordedSteps& window : windows_.take_all()) {
    say_finished(window, std::min(window.steps, id.global_step - window.first), id.global_step);
  }
}

}  // namespace trainwarden::capture
