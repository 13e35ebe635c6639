// Trial: waiting for steps of a run that is being written.
#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "core/base/no_throw.h"
#include "read/trial/step_text.h"
#include "read/trial/trial_impl.h"

namespace trainwarden {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kFirstPause{1};
constexpr milliseconds kLongestPause{20};
constexpr milliseconds kBucketPause{500};  // each look there is a request or some

Status never_comes(const trial::RunReader& run, std::span<const std::int64_t> known, std::int64_t step, Mode mode) {
  const std::string what = trial::step_text(step, mode);
  if (known.empty() || step > known.back()) {
    return Status(Code::kOutOfRange,
                  fmt::format("{} will never come: the run {}, and its last is {}", what,
                              run.state() == RunState::kDied ? "died" : fmt::format("is {}", name(run.state())),
                              known.empty() ? "none" : trial::step_text(known.back(), mode)));
  }
  return Status(Code::kOutOfRange,
                fmt::format("{} was not saved and never will be: later steps are complete; the nearest: {}", what,
                            trial::nearest_steps(known, step)));
}

Status too_late(const trial::RunReader& run, std::span<const std::int64_t> known, std::int64_t step, Mode mode,
                milliseconds timeout) {
  return Status(Code::kDeadlineExceeded, fmt::format("waited {} ms for {}; the run is {}, and its newest is {}",
                                                     timeout.count(), trial::step_text(step, mode), name(run.state()),
                                                     known.empty() ? "none" : trial::step_text(known.back(), mode)));
}

// `deadline` none: it is too far away for the clock.
Status wait_for_step(trial::RunReader& run, std::int64_t step, Mode mode, milliseconds timeout,
                     std::optional<steady_clock::time_point> deadline, bool is_in_bucket) {
  const milliseconds longest = is_in_bucket ? kBucketPause : kLongestPause;
  milliseconds pause = is_in_bucket ? kBucketPause : kFirstPause;
  for (;;) {
    const StepState state = run.step_table().state(step, mode);
    if (state == StepState::kAvailable) return {};
    const bool late = deadline && steady_clock::now() >= *deadline;
    if (state == StepState::kUnavailable || late) {
      const std::vector<std::int64_t> known = run.step_table().steps(mode, true);
      return state == StepState::kUnavailable ? never_comes(run, known, step, mode)
                                              : too_late(run, known, step, mode, timeout);
    }
    const auto until = steady_clock::now() + pause;
    std::this_thread::sleep_until(deadline ? std::min(until, *deadline) : until);
    pause = std::min(pause * 2, longest);
    TRAINWARDEN_RETURN_IF_ERROR(run.refresh());
  }
}

}  // namespace

Status Trial::wait_for_steps(std::span<const std::int64_t> steps, Mode mode, milliseconds timeout) {
  return no_throw([&]() -> Status {
    const auto start = steady_clock::now();
    const bool far = timeout >= std::chrono::duration_cast<milliseconds>(steady_clock::time_point::max() - start);
    const auto deadline = far ? std::nullopt : std::optional(start + timeout);
    TRAINWARDEN_RETURN_IF_ERROR(impl_->run().refresh());
    const bool is_in_bucket = !impl_->location().storage().has_locks();
    for (const std::int64_t step : steps) {
      TRAINWARDEN_RETURN_IF_ERROR(wait_for_step(impl_->run(), step, mode, timeout, deadline, is_in_bucket));
    }
    return {};
  });
}

}  // namespace trainwarden
