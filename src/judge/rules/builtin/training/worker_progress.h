// How far each worker of a live run has come, and when.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainwarden/trial.h"

namespace trainwarden::rules {

struct WorkerProgress {
  std::string worker;
  std::int64_t last_step = -1;  // global
  std::int64_t last_unix_ns = 0;
};

// The workers that have ended a step and that a living process writes for; sorted by name.
std::vector<WorkerProgress> worker_progress(Trial& trial);

}  // namespace trainwarden::rules
