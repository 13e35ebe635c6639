// The keeper of a queue: the process that starts the jobs of this machine when there is room for them, and again those
// that were interrupted.
//
// There is one for a folder of jobs, as long as jobs are in its queue. Who submits a job starts it when it is not
// there; so does each agent, so that it is missed for some seconds only when something kills it. It holds nothing that
// is not in the folder: the next one goes on where it ended.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "core/base/clock.h"
#include "core/process/child.h"
#include "store/storage/location.h"
#include "trainwarden/status.h"
#include "work/jobs/job_record.h"
#include "work/queue/job_queue.h"

namespace trainwarden::queue {

struct KeeperSurroundings {
  std::function<Result<process::Child>(const std::string& job)> start_agent;
  std::function<Status(const jobs::JobRecord&)> may_start;  // what may not leaves the queue; nothing: all may
  Capacity machine;
  // Waits so long, or less when something calls for a look; false: this process is to end.
  std::function<bool(std::chrono::milliseconds)> pause;
  std::chrono::milliseconds idle = std::chrono::seconds(2);  // it ends when the queue was empty so long
};

// Returns when the queue has been empty for a while, or another process keeps it. Errors: the queue's folder.
Status keep_queue(const storage::Location& jobs, JobQueue& queue, const Clock& clock, KeeperSurroundings surroundings);

}  // namespace trainwarden::queue
