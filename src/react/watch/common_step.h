// Common step: the step at which all workers of a training can begin to record, each having heard of it before.
#pragma once

#include <cstdint>

#include "trainwarden/trial.h"

namespace trainwarden::watch {

// The pace of a training, as its run shows it. All 0: nothing is known of it yet.
struct RunPace {
  std::int64_t newest_step = -1;  // over all workers
  std::int64_t newest_unix_ns = 0;
  std::int64_t step_ns = 0;  // that a step takes
};
RunPace pace_of(const Trial& trial);

// A second after `now_unix_ns`, which is longer than a hook takes to hear of a request, and no less than two steps
// beyond the newest.
std::int64_t first_common_step(const RunPace& pace, std::int64_t now_unix_ns);

}  // namespace trainwarden::watch
