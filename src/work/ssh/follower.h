// The follower of a job on another machine: the process here that brings its files, as long as it has not ended.
//
// All that looks at the job reads its folder here. The job needs neither the follower nor the connection: when one of
// them dies it goes on, and the next follower brings what is missing.
#pragma once

#include <chrono>
#include <functional>

#include "core/base/clock.h"
#include "trainwarden/status.h"
#include "work/jobs/job_record.h"

namespace trainwarden::ssh {

struct FollowerSurroundings {
  // Waits so long; false: this process is to end.
  std::function<bool(std::chrono::milliseconds)> pause;
  std::chrono::milliseconds longest_pause = std::chrono::seconds(30);  // between two attempts to connect
};

// Returns when the job has ended and all of it is here, when the job was removed here, or when another process follows
// it. A host that cannot be reached is tried again and again. Errors: the job's folder.
Status follow(jobs::JobRecord& job, const Clock& clock, const FollowerSurroundings& surroundings);

}  // namespace trainwarden::ssh
