#include "ui/cli/options/job_choice.h"

#include <cstdlib>

#include "core/base/folder_variables.h"
#include "core/base/job_variables.h"
#include "core/base/text.h"

namespace trainwarden::cli {

std::filesystem::path jobs_folder(const std::string& option) {
  if (!option.empty()) return option;
  const char* variable = std::getenv(variable::kJobs);
  return variable != nullptr && *variable != '\0' ? variable : "jobs";
}

void add_jobs_option(CLI::App& command, std::string& jobs) {
  command.add_option("--jobs", jobs, "Folder that holds the jobs (default: $TRAINWARDEN_JOBS, else jobs)")
      ->type_name("DIR");
}

Result<jobs::JobRecord> JobChoice::open() const {
  return jobs::JobRecord::open(jobs_folder(jobs), job);
}

void add_array_option(CLI::App& command, std::string& array) {
  command.add_option("--array", array, "All jobs of this array")->type_name("NAME");
}

void add_jobs_choice(CLI::App& command, JobsChoice& choice) {
  command.add_option("JOB", choice.job, "Name of a job")->type_name("");
  add_array_option(command, choice.array);
  add_jobs_option(command, choice.jobs);
}

Result<OwnJob> own_job() {
  const char* const folder = std::getenv(variable::kJobDir);
  if (folder == nullptr) {
    return Status(Code::kFailedPrecondition,
                  std::string("expected the folder of a job in ") + variable::kJobDir + "; `submit` starts jobs");
  }
  const std::filesystem::path place = folder;
  TRAINWARDEN_ASSIGN_OR_RETURN(jobs::JobRecord job,
                               jobs::JobRecord::open(place.parent_path(), place.filename().string()));
  const char* const attempt = std::getenv(variable::kJobAttempt);
  const std::optional<std::int64_t> number = attempt == nullptr ? std::nullopt : parse_int(attempt);
  return OwnJob{std::move(job), static_cast<int>(number.value_or(1))};
}

void add_job_choice(CLI::App& command, JobChoice& choice) {
  command.add_option("JOB", choice.job, "Name of a job")->required()->type_name("");
  add_jobs_option(command, choice.jobs);
}

}  // namespace trainwarden::cli
