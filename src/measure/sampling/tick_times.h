// TickTimes: the wall times of ticks, which rise as steadily as the ticks come.
#pragma once

#include <cstdint>

#include "core/base/clock.h"

namespace trainwarden::sampling {

// A wall clock that is set by more than this is followed; by less, the steady clock goes on.
inline constexpr std::int64_t kMaxClockDriftNs = 1'000'000'000;

struct TickTime {
  std::int64_t unix_ns = 0;
  bool set_back = false;  // it lies before the last one
};

// One thread at a time.
class TickTimes {
 public:
  explicit TickTimes(const Clock& clock);

  TickTime now();
  std::int64_t jumps() const { return jumps_; }  // how often the wall clock was followed

 private:
  const Clock& clock_;
  std::int64_t ahead_ns_;  // of the wall clock over the steady one
  std::int64_t last_unix_ns_ = 0;
  std::int64_t jumps_ = 0;
};

}  // namespace trainwarden::sampling
