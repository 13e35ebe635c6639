// The agent of a job in Slurm: the batch script itself, from its last line on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "trainwarden/status.h"
#include "work/jobs/job_agent.h"
#include "work/jobs/job_record.h"
#include "work/slurm/slurm_commands.h"

namespace trainwarden::slurm {

// What Slurm tells a batch script of itself.
struct SlurmSelf {
  std::int64_t id = 0;        // SLURM_JOB_ID
  std::int64_t restarts = 0;  // SLURM_RESTART_COUNT, which is not there the first time
};
// kFailedPrecondition when this process was not started by Slurm.
Result<SlurmSelf> slurm_self();

// The names of this job's nodes, in the order of their numbers; none when Slurm does not say which they are. Errors as
// SlurmCommands::run().
Result<std::vector<std::string>> nodes_of_job(const SlurmCommands& commands);

// Takes the job over from the agent of the attempt before, which Slurm has ended, and runs the next attempt as
// jobs::run_agent() does. When a signal asks this process to end, Slurm is asked why: a job that was cancelled or whose
// time is up in Slurm is to stop, every other one is interrupted; what Slurm does not put back into its queue by itself
// is put there at the end, when it may go on.
//
// kFailedPrecondition when the job is another one in Slurm, as one that was submitted twice is, or has ended;
// kAlreadyExists when an agent of it lives still.
Status run_slurm_agent(jobs::JobRecord& job, const SlurmSelf& self, const SlurmCommands& commands, const Clock& clock,
                       jobs::AgentSurroundings surroundings);

}  // namespace trainwarden::slurm
