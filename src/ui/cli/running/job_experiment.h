// A job that belongs to an experiment: the component that it is, from its submission to its end.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "trainwarden/status.h"
#include "work/jobs/job_record.h"
#include "work/jobs/job_spec.h"

namespace trainwarden::cli {

// Makes its trial and its component before the job is there, and names both in its environment. Nothing for a job
// without an experiment. kNotFound when there is no such experiment. `jobs`: the folder of jobs, whole.
Status enter_experiment(const jobs::JobSpec& spec, const std::filesystem::path& jobs, jobs::JobOrder& order);
// Folders that it is to write into, by name: they come of it, and are hashed when it has ended. Before it can run.
Status announce_job_outputs(const jobs::JobOrder& order, const std::map<std::string, std::filesystem::path>& outputs);
// The same job could not be made: its component says so.
void leave_experiment(const jobs::JobOrder& order, const Status& why);
// Starts a process that hashes what goes into it, while it runs already. It lives on when we end.
void start_recording_inputs(const jobs::JobRecord& job, const std::filesystem::path& jobs,
                            const std::filesystem::path& spec_folder);

// What that process does, and what the agent does at the end. Nothing for a job without an experiment.
Status record_job_inputs(const jobs::JobRecord& job, const jobs::JobSpec& spec,
                         const std::filesystem::path& spec_folder);
Status record_job_end(const jobs::JobRecord& job);

}  // namespace trainwarden::cli
