#include "measure/sampling/tick_times.h"

#include <cstdlib>

namespace trainwarden::sampling {

TickTimes::TickTimes(const Clock& clock) : clock_(clock), ahead_ns_(clock.unix_ns() - clock.steady_ns()) {}

TickTime TickTimes::now() {
  const std::int64_t steady_ns = clock_.steady_ns();
  const std::int64_t ahead_ns = clock_.unix_ns() - steady_ns;
  if (std::abs(ahead_ns - ahead_ns_) > kMaxClockDriftNs) {
    ahead_ns_ = ahead_ns;
    ++jumps_;
  }
  TickTime time{steady_ns + ahead_ns_, false};
  time.set_back = time.unix_ns < last_unix_ns_;
  if (time.unix_ns == last_unix_ns_) ++time.unix_ns;
  last_unix_ns_ = time.unix_ns;
  return time;
}

}  // namespace trainwarden::sampling
