#include "hook/capture/step_times.h"

#include <algorithm>
#include <utility>

namespace trainwarden::capture {

void StepTimes::end_step(Mode mode, std::int64_t now_ns) {
  if (mode == Mode::kEval || mode == Mode::kPredict) return;
  const std::int64_t began_ns = std::exchange(ended_ns_, now_ns);
  if (began_ns == 0) return;
  seconds_[next_] = static_cast<float>(static_cast<double>(now_ns - began_ns) / 1e9);
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
