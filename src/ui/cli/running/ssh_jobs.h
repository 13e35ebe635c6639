// Jobs of another machine, which ssh reaches. There they are jobs of its queue; here lies a copy of their files.
#pragma once

#include <memory>

#include "ui/cli/running/job_backend.h"

namespace trainwarden::cli {

std::unique_ptr<JobBackend> create_ssh_backend();

}  // namespace trainwarden::cli
