#include "hook/capture/step_times.h"

#include <algorithm>
#include <utility>

namespace trainwarden::capture {
namespace {

constexpr std::int64_t kUnknown = -1;  // when a call began, and so what its steps took

}  // namespace

void StepTimes::end_step(Mode mode, std::int64_t now_ns) {
  if (mode == Mode::kEval || mode == Mode::kPredict) return;
  const std::int64_t began_ns = std::exchange(ended_ns_, now_ns);
  if (sharing_ > 0 && !shared_ns_) shared_ns_ = began_ns == 0 ? kUnknown : (now_ns - began_ns) / sharing_;
  const std::int64_t took_ns = shared_ns_.value_or(now_ns - began_ns);
  if (sharing_ > 0 && --sharing_ == 0) shared_ns_.reset();
  if (began_ns != 0 && took_ns != kUnknown) add(took_ns);
}

void StepTimes::share(std::int64_t steps) {
  if (!is_on()) return;
  sharing_ = std::max(steps, std::int64_t{0});
  shared_ns_.reset();
}

void StepTimes::add(std::int64_t took_ns) {
  seconds_[next_] = static_cast<float>(static_cast<double>(took_ns) / 1e9);
  next_ = (next_ + 1) % kRemembered;
  count_ = std::min(count_ + 1, kRemembered);
}

std::span<const float> StepTimes::newest() {
  const auto next = seconds_.begin() + static_cast<std::ptrdiff_t>(next_);
  std::rotate(seconds_.begin(), next, seconds_.end());
  next_ = 0;
  return std::span<const float>(seconds_).last(count_);
}

}  // namespace trainwarden::capture
