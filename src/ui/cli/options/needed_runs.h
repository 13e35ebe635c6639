// Which runs of a folder jobs and experiments need, so that nobody removes them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "read/retention/gc_plan.h"
#include "trainwarden/status.h"

namespace trainwarden::cli {

// Runs of jobs that are not over, runs whose files a job reads, and runs whose files an experiment has among its inputs
// and outputs. `names` are the runs in `runs`. An error when a job or an experiment cannot be read: nobody knows then.
Result<retention::NeededRuns> find_needed_runs(const std::filesystem::path& runs, const std::vector<std::string>& names,
                                               const std::filesystem::path& jobs,
                                               const std::filesystem::path& experiments);

}  // namespace trainwarden::cli
