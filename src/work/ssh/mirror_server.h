// What `trainwarden job mirror` does on a job's host: it sends the job's files to who follows it, as long as both live.
#pragma once

#include <functional>
#include <string>

#include "trainwarden/status.h"
#include "work/jobs/job_record.h"

namespace trainwarden::ssh {

// The job of this name in `jobs` that was sent there under this id. kNotFound when there is none, or another one.
Result<jobs::JobRecord> find_sent_job(const storage::Location& jobs, const std::string& name, const std::string& id);

// Reads from `input` what the other end has, and writes frames to `output` until the job has ended and all of it was
// sent, or `input` has ended: the connection is gone. `look` is called every two seconds: the job may have lost its
// agent. Without a job it says why there is none. Errors: of the descriptors, and of the job's folder.
Status serve_mirror(const Result<jobs::JobRecord>& job, int input, int output, const std::function<void()>& look);

}  // namespace trainwarden::ssh
