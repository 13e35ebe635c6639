// RuleSummary: where the rules of a run stand, in the words of SageMaker Debugger's rule_job_summary().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "judge/rules/rule_history.h"
#include "store/storage/location.h"
#include "trainwarden/status.h"

namespace trainwarden::rules {

// One rule. Source of the first five fields: the elements of DebugRuleEvaluationStatuses. Ours: the others.
struct RuleSummary {
  std::string configuration_name;             // RuleConfigurationName: the rule's id
  std::string job_arn;                        // RuleEvaluationJobArn: names this rule on this run
  std::string evaluation_status;              // RuleEvaluationStatus: one of the six words of the source
  std::optional<std::string> status_details;  // StatusDetails, at most 1024 bytes; none while in progress
  std::int64_t last_modified_unix_ns = 0;     // LastModifiedTime, of this rule's own last change

  RuleHistory history;
};

// Of a rule that several engines judged the run with, what they say together (judge/rules/rule_standing.h). In the
// order of the journals, then of the rules. kNotFound when there is no run.
Result<std::vector<RuleSummary>> summarize_rules(const storage::Location& run);
// The same; what cannot be read of the engines' journals is added to `losses`.
Result<std::vector<RuleSummary>> summarize_rules(const storage::Location& run, std::vector<RunLoss>& losses);

}  // namespace trainwarden::rules
