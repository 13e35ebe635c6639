// Jobs of a cluster that Slurm runs.
#pragma once

#include <memory>

#include "ui/cli/running/job_backend.h"

namespace trainwarden::cli {

std::unique_ptr<JobBackend> create_slurm_backend();

}  // namespace trainwarden::cli
