// What a job leaves that people want: results, checkpoints, and what became of its rules.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "trainwarden/status.h"
#include "work/jobs/job_record.h"

namespace trainwarden::workspace {

struct JobFile {
  std::string name;            // "output/model.tar.gz", "checkpoints/last.pt", "rules/LossSpike.log"
  std::filesystem::path path;  // where it lies
  std::uint64_t bytes = 0;
};

// Sorted by name; links are left out, and so is a folder outside the job's own when this user has not submitted the
// job, which is logged. kResourceExhausted when there are more than 100,000; errors of the job's spec.
Result<std::vector<JobFile>> list_job_files(const jobs::JobRecord& job);

// Copies one to `folder`/NAME. kAlreadyExists when something is there.
Status fetch_job_file(const JobFile& file, const std::filesystem::path& folder);

}  // namespace trainwarden::workspace
