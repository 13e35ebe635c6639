#include "judge/rules/builtin/training/step_pace.h"

#include <algorithm>
#include <cmath>

namespace trainwarden::rules {

void StepPace::add(std::int64_t ended_unix_ns) {
  if (ended_unix_ns == 0) return;
  // A clock that was put back says nothing.
  if (last_unix_ns_ != 0 && ended_unix_ns >= last_unix_ns_) {
    const double seconds = static_cast<double>(ended_unix_ns - last_unix_ns_) / 1e9;
    if (seconds_.size() < kRemembered) {
      seconds_.push_back(seconds);
    } else {
      seconds_[oldest_] = seconds;
      oldest_ = (oldest_ + 1) % kRemembered;
    }
  }
  last_unix_ns_ = ended_unix_ns;
}

double StepPace::quantile(double share) const {
  if (seconds_.empty()) return 0;
  std::vector<double> sorted = seconds_;
  const double rank = std::ceil(share * static_cast<double>(sorted.size())) - 1;
  const auto at = static_cast<std::ptrdiff_t>(std::max(rank, 0.0));
  std::nth_element(sorted.begin(), sorted.begin() + at, sorted.end());
  return sorted[static_cast<std::size_t>(at)];
}

}  // namespace trainwarden::rules
