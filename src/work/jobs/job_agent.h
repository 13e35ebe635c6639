// The agent of a job: the process that starts it, watches over it, and writes what became of it.
#pragma once

#include "core/base/clock.h"
#include "trainwarden/status.h"
#include "work/jobs/job_record.h"

namespace trainwarden::jobs {

// Starts the job's command and waits for its end: seconds to weeks. The program has a process group of its own; it gets
// SIGTERM when the job is asked to stop or its time is up, its group SIGKILL when it is still there after the grace,
// and what it leaves behind is killed. It is ended when this process goes, in whatever way.
//
// kAlreadyExists when the job has an agent already, kFailedPrecondition when it is not Pending. What becomes of the
// program is no error.
Status run_agent(JobRecord& job, const Clock& clock);

}  // namespace trainwarden::jobs
