// A job as CreateTrainingJob of SageMaker's API would ask for it.
#pragma once

#include <string>

#include "data/format/json.h"
#include "trainwarden/status.h"
#include "work/jobs/job_record.h"
#include "work/jobs/job_spec.h"

namespace trainwarden::sagemaker {

// Of a job that came as such a request, its folder has it: JOB/sagemaker-.../request.json.
inline constexpr const char* kRequestPrefix = "sagemaker-";
inline constexpr const char* kRequestFile = "request.json";
// How it is profiled, beside the former: of a job that runs it may say otherwise than that.
inline constexpr const char* kProfilerFile = "profilerconfig.json";

// The job's own text, read again; its mistakes were told when it was submitted. kDataLoss when it is none any more.
Result<jobs::JobSpec> spec_of(const jobs::JobRecord& job);

// The request that it came with, profiled as it is by now, else one that is made of its spec. Nothing says so when the
// former cannot be read: who can write into the job's folder can leave it out as well.
format::OrderedJson request_of(const jobs::JobRecord& job, const jobs::JobSpec& spec);

// The same without the former. `folder`: where relative paths in the spec begin.
format::OrderedJson request_of_spec(const jobs::JobSpec& spec, const std::filesystem::path& folder);

// "s3://mine/results" and what lies in it.
std::string joined(std::string_view address, std::string_view path);

}  // namespace trainwarden::sagemaker
