// All ranks of a job on this machine: started together, and ended together when one of them fails.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/process/exit_record.h"
#include "trainwarden/status.h"
#include "work/jobs/job_spec.h"
#include "work/ranks/rank_process.h"

namespace trainwarden::ranks {

struct LocalRanks {
  std::int64_t count = 1;
  double grace_seconds = 120;  // from SIGTERM to SIGKILL, when another rank has failed
  std::vector<std::string> program;
};

// In place of the program of one process: this program, which runs the above (run_local_ranks()).
std::vector<std::string> local_ranks_command(const std::string& trainwarden, const jobs::Resources& resources,
                                             double grace_seconds, const std::vector<std::string>& program);

// Starts the ranks and waits for the end of all. MASTER_ADDR is this machine and MASTER_PORT a free port, where the
// environment does not have them. When a rank fails, the others get SIGTERM, and after the grace SIGKILL; which one was
// first is in the job (JobRecord::write_first_failure()). Signals are handed on to all ranks; one that asks this
// process to end makes no failure of how they end.
//
// Returns how the rank ended that failed first; else that all ended well. The errors are those of
// RankProcess::start(): no rank is left then.
Result<process::ExitRecord> run_local_ranks(const LocalRanks& plan, const RankSurroundings& surroundings);

}  // namespace trainwarden::ranks
