// Waits that Ctrl-C can end.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include <nanobind/nanobind.h>

#include "errors.h"

namespace trainwarden::python {

using WaitClock = std::chrono::steady_clock;

// ValueError for what is no number of seconds from 0 on.
inline WaitClock::time_point deadline_in(double seconds) {
  constexpr double kLongestSeconds = 1e8;  // three years
  if (!(seconds >= 0)) throw nanobind::value_error("expected a timeout in seconds, from 0 on");
  return WaitClock::now() +
         std::chrono::milliseconds(static_cast<std::int64_t>(std::min(seconds, kLongestSeconds) * 1e3));
}

inline constexpr std::chrono::milliseconds kTurn{50};

// Calls wait(timeout) in short turns and without the GIL until it no longer answers kDeadlineExceeded, or for good.
template <class Wait>
Status wait_until(WaitClock::time_point deadline, Wait wait, std::chrono::milliseconds turn = kTurn) {
  using std::chrono::milliseconds;
  while (true) {
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - WaitClock::now());
    const Status status = wait(std::clamp(left, milliseconds(0), turn));
    raise_signals();
    if (left <= turn || status.code() != Code::kDeadlineExceeded) return status;
  }
}

}  // namespace trainwarden::python
