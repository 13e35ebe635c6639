// What a job leaves that people want: results, checkpoints, what its rules wrote and what became of them.
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

struct JobFiles {
  std::vector<JobFile> files;     // sorted by name, without links
  std::vector<std::string> left;  // folders that were not looked into, with the reason, as sentences
};

// A folder outside the job's own is looked into only when this user has submitted the job. kResourceExhausted when
// there are more than 100,000 files; errors of the job's spec.
Result<JobFiles> list_job_files(const jobs::JobRecord& job);

// Copies one to `folder`/NAME. kAlreadyExists when something is there.
Status fetch_job_file(const JobFile& file, const std::filesystem::path& folder);

}  // namespace trainwarden::workspace
