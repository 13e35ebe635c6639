// Where the rules of a job stand: DebugRuleEvaluationStatuses of SageMaker's API.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "data/format/json.h"
#include "work/jobs/job_state.h"

namespace trainwarden::sagemaker {

// Rules of a request with the ids by which a run knows them: the rule's class, and -2, -3 for further ones of the same.
// `configurations` is DebugRuleConfigurations; what is none is left out.
struct RequestedRule {
  std::string id;
  std::string name;  // that the job gives to it
  std::string rule;  // its class
};
// `before`: how many of each class come before these.
std::vector<RequestedRule> requested_rules(const format::OrderedJson& configurations,
                                           std::map<std::string, int> before = {});

// The name that the request gives to the rule which its run knows by this id; the id, where it gives none.
std::string requested_name(const format::OrderedJson& request, const std::string& id);

// `run` is the description of the job's run, or an empty object while there is none; times are RFC 3339 texts. A rule
// that nobody has asked yet is in progress, until the job has ended. Without rules of the request those of the run.
format::OrderedJson rule_evaluations(const format::OrderedJson& request, const format::OrderedJson& run,
                                     const jobs::Transition& now);

// The same of rules of the profiler (ProfilerRuleConfigurations), which judge the same run.
format::OrderedJson profiler_rule_evaluations(const format::OrderedJson& request, const format::OrderedJson& run,
                                              const jobs::Transition& now);

}  // namespace trainwarden::sagemaker
