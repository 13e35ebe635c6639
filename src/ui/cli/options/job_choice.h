// Jobs as they are named on the command line.
#pragma once

#include <filesystem>
#include <string>

#include <CLI/CLI.hpp>

#include "trainwarden/status.h"
#include "work/jobs/job_record.h"

namespace trainwarden::cli {

// The folder that holds the jobs: what --jobs said, else TRAINWARDEN_JOBS, else ./jobs.
std::filesystem::path jobs_folder(const std::string& option);
void add_jobs_option(CLI::App& command, std::string& jobs);

// A job, as the user names it.
struct JobChoice {
  std::string job;
  std::string jobs;
  Result<jobs::JobRecord> open() const;
};

// A job, or all of an array: either is to be given.
struct JobsChoice {
  std::string job;
  std::string array;
  std::string jobs;
};
void add_jobs_choice(CLI::App& command, JobsChoice& choice);
void add_array_option(CLI::App& command, std::string& array);

// The job that this process belongs to, by its environment. kFailedPrecondition when it belongs to none.
struct OwnJob {
  jobs::JobRecord job;
  int attempt = 1;
};
Result<OwnJob> own_job();

void add_job_choice(CLI::App& command, JobChoice& choice);

}  // namespace trainwarden::cli
