// Step phases: what the wall time of train steps was spent on (docs/format/phases.md), worker by worker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "trainwarden/status.h"
#include "trainwarden/trial.h"

namespace trainwarden::profile {

struct PhaseTime {
  std::string phase;   // "data_wait"
  double seconds = 0;  // in the steps that were divided
  double share = 0;    // of the wall time of all train steps, in [0, 1]; all phases of a worker sum to 1
  bool exact = false;  // the share is known of all steps, by a total
};

// Steps of which nothing was captured are not divided into phases. Of them only the totals of evaluation, checkpoints,
// capture and waits for data are known: the shares of these are exact, and those of the others are as in the divided
// steps.
struct WorkerPhases {
  std::string worker;
  std::size_t divided_steps = 0;  // how many were divided into phases
  double divided_seconds = 0;     // their wall time
  double steps = 0;               // train steps there were; 0: not known
  double seconds = 0;             // their wall time and that before the first; 0: not known
  std::vector<PhaseTime> phases;  // the longest first
};

// Of complete steps that were written; the first step of a run, which holds its beginning, is no part of them. By
// worker; one without phases is not there. Errors as those of reading.
Result<std::vector<WorkerPhases>> step_phases(Trial& trial,
                                              std::int64_t last_step = std::numeric_limits<std::int64_t>::max());

// The shares of one worker, by the seconds of each phase in the divided steps and the newest totals.
WorkerPhases divide(const std::string& worker, std::size_t divided_steps, double divided_seconds,
                    const std::map<std::string, double>& phase_seconds, const std::map<std::string, double>& totals);

}  // namespace trainwarden::profile
