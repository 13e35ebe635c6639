// Names for jobs that have none.
#pragma once

#include <cstdint>
#include <string>

#include "work/jobs/job_spec.h"

namespace trainwarden::jobs {

// Its base name, or what its script or program is called, and the time in UTC: "bert-2026-11-23-13-05-09-123", as
// SageMaker's SDK makes it; 63 letters at most.
std::string make_job_name(const JobSpec& spec, std::int64_t unix_ns);

}  // namespace trainwarden::jobs
