// The schedule of a rule that judges only that time passes, beside a training that goes on.
#pragma once

#include "trainwarden/rule.h"

namespace trainwarden::rules {

inline TimeSchedule by_the_clock() {
  constexpr std::int64_t kCadenceNs = 200'000'000;
  TimeSchedule schedule;
  schedule.cadence_ns = kCadenceNs;
  return schedule;
}

}  // namespace trainwarden::rules
