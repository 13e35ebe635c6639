// Jobs of this machine, which wait in its queue.
#pragma once

#include <memory>

#include "ui/cli/running/job_backend.h"

namespace trainwarden::cli {

std::unique_ptr<JobBackend> create_local_backend();

}  // namespace trainwarden::cli
