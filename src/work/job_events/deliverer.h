// The deliverer: the process that records what happens to the jobs of a folder and in their runs, and delivers it to
// the standing subscriptions.
//
// There is one for a folder, as long as one of its jobs is to go on or one of its events is to be delivered, and none
// where nobody subscribes. Whoever moves a job on, or looks at one, starts it when it is not there. It holds nothing
// that is not in the folder: what was killed in the middle is gone on with by the next one.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <vector>

#include "core/base/clock.h"
#include "react/actions/action_kind.h"
#include "trainwarden/status.h"

namespace trainwarden::job_events {

struct DelivererSurroundings {
  std::vector<actions::ActionKind> kinds;  // of runs; those that fit are taken
  // Waits so long, or less when this process is to end; false then.
  std::function<bool(std::chrono::milliseconds)> pause;
  std::chrono::milliseconds idle = std::chrono::seconds(1);  // it ends when there was nothing to do for so long
};

// Returns when nothing is left, or another process delivers. Errors: the folder's.
Status deliver_job_events(const std::filesystem::path& jobs, const Clock& clock, DelivererSurroundings surroundings);

}  // namespace trainwarden::job_events
