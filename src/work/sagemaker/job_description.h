// A job as DescribeTrainingJob of SageMaker's API answers (docs/reference/describe.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/format/json.h"
#include "trainwarden/status.h"
#include "work/jobs/job_record.h"

namespace trainwarden::sagemaker {

inline constexpr const char* kLocalRegion = "local";
std::string training_job_arn(std::string_view region, std::string_view job);  // its name in small letters

// `transitions` is where it stands (JobRecord::transitions(), settled). Times are RFC 3339 texts in UTC. What is not
// known is left out. Writes nothing. kDataLoss when the job's text or its run cannot be read.
Result<format::OrderedJson> describe_training_job(const jobs::JobRecord& job,
                                                  const std::vector<jobs::Transition>& transitions,
                                                  std::string_view region = kLocalRegion);

}  // namespace trainwarden::sagemaker
