// Results and checkpoints of a job, as the page offers them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trainwarden/status.h"
#include "ui/answers/route.h"
#include "work/jobs/job_record.h"

namespace trainwarden::work_answers {

inline constexpr std::size_t kMostFiles = 2'000;  // that are listed
// Of a file that is given: an answer lies in memory as a whole. Larger ones are for `trainwarden job fetch`.
inline constexpr std::uint64_t kMostFileBytes = 64u << 20;

// {"files": [...], "count": N, "not_listed": [...]}: errors of workspace::list_job_files().
Result<answers::Reply> list_downloads(const jobs::JobRecord& job);

// The file of this name of the list, to be saved under the last part of its name. No link is followed.
// kNotFound; kResourceExhausted with the command that copies it when it is too large.
Result<answers::Reply> download(const jobs::JobRecord& job, const std::string& name);

}  // namespace trainwarden::work_answers
