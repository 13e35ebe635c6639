// The processes that jobs of this machine go on with when the command that was typed has ended.
#pragma once

#include <filesystem>
#include <string>

#include "core/process/child.h"
#include "trainwarden/status.h"
#include "work/jobs/job_record.h"

namespace trainwarden::cli {

std::filesystem::path this_program();

// Starts the agent of a job that waits for its turn. It lives on when we end.
Result<process::Child> start_job_agent(const std::filesystem::path& jobs, const std::string& job);

// Starts the follower of a job that runs on a machine behind ssh. It lives on when we end.
Status start_job_follower(const jobs::JobRecord& job);

// Starts the keeper of the queue when jobs wait in it and nobody keeps it. It lives on when we end.
Status ensure_job_keeper(const std::filesystem::path& jobs);
// The same, and that this job is in the queue when it waits for its turn. A job of another machine is left to that.
Status ensure_job_is_kept(const jobs::JobRecord& job);

// Where somebody has subscribed to what happens to the jobs of this folder: starts the process that delivers it, when
// there is something to deliver and nobody does. It lives on when we end. Elsewhere it costs a look at one folder.
Status ensure_job_deliverer(const std::filesystem::path& jobs);
// The same, and that this job is among those of which something is to come, unless it has ended.
Status ensure_job_is_told_of(const jobs::JobRecord& job);

// The same for commands that only look, with the deliverer: what is wrong is a warning.
void try_ensure_job_deliverer(const std::filesystem::path& jobs);
void try_ensure_job_keeper(const std::filesystem::path& jobs);
void try_ensure_job_is_told_of(const jobs::JobRecord& job);

}  // namespace trainwarden::cli
