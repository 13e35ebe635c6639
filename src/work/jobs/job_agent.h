// The agent of a job: the process that starts its program, watches over it, and writes what became of it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/process/signal_relay.h"
#include "trainwarden/status.h"
#include "work/jobs/attempt_stages.h"
#include "work/jobs/control_group.h"
#include "work/jobs/job_record.h"

namespace trainwarden::jobs {

// What an attempt runs: the launcher with what belongs to the attempt, and the program.
std::vector<std::string> command_of_attempt(const JobOrder& order, const std::filesystem::path& launch_file,
                                            int attempt);

struct AgentSurroundings {
  process::SignalRelay* signals = nullptr;  // nothing: SIGTERM ends this process at once, and the program with it
  std::function<void()> look;               // called several times a second while the program runs
  AttemptStages* stages = nullptr;          // nothing: nothing is done before and after
  std::filesystem::path control_groups = kControlGroupRoot;
  std::function<void()> signalled;  // a signal asks this process to end: whoever knows why may say so in the job
};

// Starts the next attempt of a job that waits for its turn, and waits for the program's end: seconds to weeks. The
// program has a process group of its own; it gets SIGTERM when the job is asked to stop, its time is up, or a signal
// asks this process to end, and its group SIGKILL when it is still there after the grace. What it leaves behind is
// killed. It is ended when this process goes, in whatever way. SIGINT to this process asks the job to stop, and takes
// effect also when there is no room to write so; other signals make room for others, and the job may go on later.
//
// kAlreadyExists when the job has an agent already, kFailedPrecondition when it does not wait for its turn. What
// becomes of the program is no error.
Status run_agent(JobRecord& job, const Clock& clock, AgentSurroundings surroundings = {});

}  // namespace trainwarden::jobs
