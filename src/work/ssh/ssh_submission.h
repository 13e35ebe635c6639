// Submitting to a host: is it fit for jobs, and `trainwarden submit` there.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trainwarden/status.h"
#include "work/jobs/job_record.h"
#include "work/ssh/ssh_target.h"

namespace trainwarden::ssh {

inline constexpr const char* kDefaultFolder = "trainwarden";  // in the home there

struct HostFacts {
  std::string folder;    // whole
  std::size_t jobs = 0;  // that have not ended
};

// Makes the folder there, and looks for trainwarden of this very version. kUnavailable when the host cannot be reached,
// kFailedPrecondition when it is not fit; the message says what to do.
Result<HostFacts> check_host(const SshHost& host, const std::string& folder, const std::vector<std::string>& path);

// The first of them with the fewest jobs, of those that are fit. Errors as check_host(), of all together.
Result<SshTarget> choose_host(const std::vector<std::string>& hosts, const std::string& folder,
                              const std::vector<std::string>& path);

// Sends the archive there, and submits `spec_file` in it as this job. kFailedPrecondition when the host refuses, with
// its words; kUnavailable when nobody knows whether it has the job now.
Status submit_there(const jobs::JobRecord& job, const SshTarget& target, const std::filesystem::path& archive,
                    const std::string& spec_file);

// Removes it there, with its run.
Status remove_there(const jobs::JobRecord& job, const SshTarget& target);

}  // namespace trainwarden::ssh
