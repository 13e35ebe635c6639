// The rules of a job, each with where it stands and where its log lies: for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "ui/cli/terminal/json_out.h"
#include "work/jobs/job_record.h"
#include "work/jobs/job_rules.h"

namespace trainwarden::cli {

// As they stand in a job that stands so. Errors of reading its folder.
Result<std::vector<jobs::JobRule>> read_job_rules(const jobs::JobRecord& job, const jobs::Transition& now);

// Empty when there are none.
std::string job_rules_text(const jobs::JobRecord& job, const std::vector<jobs::JobRule>& rules);
OrderedJson job_rules_json(const jobs::JobRecord& job, const std::vector<jobs::JobRule>& rules);

}  // namespace trainwarden::cli
