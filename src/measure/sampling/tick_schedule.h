// TickSchedule: when a sampler ticks: at multiples of an interval from a beginning, so that what a tick takes delays no
// later one.
#pragma once

#include <cstdint>

namespace trainwarden::sampling {

class TickSchedule {
 public:
  // Of a steady clock. The first tick is at `start_ns`; `interval_ns` is above 0.
  TickSchedule(std::int64_t start_ns, std::int64_t interval_ns) : next_ns_(start_ns), interval_ns_(interval_ns) {}

  // When the next tick is due.
  std::int64_t next_ns() const { return next_ns_; }
  // That tick was made, and it is `now_ns`. Ticks that should have been before now are left out, and counted.
  void made(std::int64_t now_ns) {
    next_ns_ += interval_ns_;
    if (next_ns_ > now_ns) return;
    const std::int64_t missed = (now_ns - next_ns_) / interval_ns_ + 1;
    missed_ += missed;
    next_ns_ += missed * interval_ns_;
  }
  std::int64_t missed() const { return missed_; }
  // Another interval, or the same after a break, in which no tick was due: the next tick is at `now_ns`.
  void begin_anew(std::int64_t now_ns, std::int64_t interval_ns) {
    next_ns_ = now_ns;
    interval_ns_ = interval_ns;
  }

 private:
  std::int64_t next_ns_;
  std::int64_t interval_ns_;
  std::int64_t missed_ = 0;
};

}  // namespace trainwarden::sampling
