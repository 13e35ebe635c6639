// What a full disk means for a job, for people.
#pragma once

#include <string>

#include "work/jobs/job_record.h"

namespace trainwarden::jobs {

// Why what has happened to a job may not be written, and what to do; empty when there is room, as far as can be seen.
std::string full_disk_notice(const JobRecord& job);

}  // namespace trainwarden::jobs
