// Rule output: what the profiler's rules of a job have found, as files where SageMaker's jobs have them.
//
//   OUTPUT/JOB/rule-output/RULE/profiler-output/profiler-report.html
//                                               profiler-report.json
//                                               profiler-reports/CPUBottleneck.json, of each rule that judged
//
// RULE is the name that the job gives to its ProfilerReport.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "store/storage/location.h"
#include "trainwarden/status.h"
#include "work/jobs/job_record.h"

namespace trainwarden::cli {

// By the rule's name, with the keys of the original. `document`: a run's profile. kDataLoss when it is none.
Result<std::map<std::string, std::string>> rule_reports_of(std::string_view document);

// Copies the report that lies in the run. `rule_id` is the report's id in the run. Returns the folder's path. What lies
// there from an earlier attempt is replaced. The errors of reading the job and the run, and of the storage.
Result<std::string> write_rule_output(const jobs::JobRecord& job, const std::string& rule_id,
                                      const storage::Location& run);

}  // namespace trainwarden::cli
