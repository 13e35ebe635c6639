// One text for the code and the data that a job would run with now: while it is the same, so are they.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "trainwarden/status.h"
#include "work/jobs/job_spec.h"

namespace trainwarden::experiments {

// "sha256:" and 64 hexadecimal digits, of
// - the text of the job's file, which has its image, its hyper-parameters and its arguments;
// - the content of the sources; of a job without a folder of sources that of the files that its program's words name,
//   and what git knows of the folder (code_version.h), so that a change of a module beside them is seen where there is
//   a repository;
// - of each input on this machine names, sizes and times of change of its files; an address elsewhere is not looked at.
// Relative paths begin in `folder`. kResourceExhausted: more than 64 MiB or 10,000 files of code, or 100,000 of data;
// else the errors of hash_content().
Result<std::string> fingerprint_of_job(const jobs::JobSpec& spec, std::string_view text,
                                       const std::filesystem::path& folder);

}  // namespace trainwarden::experiments
