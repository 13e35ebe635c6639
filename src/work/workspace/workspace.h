// Workspace: what a job's program finds when it starts, and what is kept of it when it has ended.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trainwarden/status.h"
#include "work/jobs/attempt_stages.h"
#include "work/jobs/job_record.h"
#include "work/jobs/job_spec.h"

namespace trainwarden::workspace {

// What the job's user wrote, as it was submitted. kInvalidArgument when it cannot be read.
Result<jobs::JobSpec> spec_of(const jobs::JobRecord& job);

// Of this job on this machine, as the text of its spec says; or on several that share its folder: `hosts` are their
// names, this one's first. kInvalidArgument when the spec cannot be read.
Result<std::unique_ptr<jobs::AttemptStages>> create_workspace(const jobs::JobRecord& job,
                                                              const std::vector<std::string>& hosts = {});

}  // namespace trainwarden::workspace
