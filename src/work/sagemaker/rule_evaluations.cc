#include "work/sagemaker/rule_evaluations.h"

#include <set>
#include <utility>

#include "core/base/rfc3339.h"

namespace trainwarden::sagemaker {
namespace {

using format::OrderedJson;

constexpr const char* kName = "RuleConfigurationName";
constexpr const char* kStatus = "RuleEvaluationStatus";

std::string text_of(const OrderedJson& object, const char* field) {
  if (!object.is_object() || !object.contains(field) || !object.at(field).is_string()) return "";
  return object.at(field).get<std::string>();
}

// What SageMaker has of an evaluation; ours has more. Whoever judged has gone with the job, whether it came to say so
// or was killed: who waits for its rules waits no longer.
OrderedJson evaluation(const OrderedJson& seen, const std::string& name, const jobs::Transition& now) {
  OrderedJson json = {{kName, name}};
  for (const char* field : {"RuleEvaluationJobArn", kStatus, "StatusDetails", "LastModifiedTime"}) {
    if (seen.contains(field)) json[field] = seen.at(field);
  }
  const std::string status = text_of(seen, kStatus);
  if (jobs::is_terminal(now.status) && (status == "InProgress" || status == "Stopping")) {
    json[kStatus] = "Stopped";
    json["StatusDetails"] = "the job has ended, and its rules were not judged to their end\n";
    json["LastModifiedTime"] = format_rfc3339(now.unix_ns, 3);
  }
  return json;
}

OrderedJson not_judged(const std::string& name, const jobs::Transition& now) {
  OrderedJson json = {{kName, name}, {kStatus, "InProgress"}};
  if (jobs::status_of(now.status) == jobs::JobStatus::kStopped) {
    json[kStatus] = "Stopped";
  } else if (jobs::is_terminal(now.status)) {
    json[kStatus] = "Error";
    json["StatusDetails"] = "ClientError: the job has ended, and its program has captured nothing to judge\n";
  }
  json["LastModifiedTime"] = format_rfc3339(now.unix_ns, 3);
  return json;
}

}  // namespace

std::vector<RequestedRule> requested_rules(const OrderedJson& configurations, std::map<std::string, int> before) {
  std::map<std::string, int>& seen = before;
  std::vector<RequestedRule> rules;
  if (!configurations.is_array()) return rules;
  for (const OrderedJson& one : configurations) {
    if (!one.is_object() || !one.contains("RuleParameters")) continue;
    const std::string rule = text_of(one.at("RuleParameters"), "rule_to_invoke");
    const std::string name = text_of(one, kName);
    if (rule.empty() || name.empty()) continue;
    const int count = ++seen[rule];
    rules.push_back({count == 1 ? rule : rule + "-" + std::to_string(count), name, rule});
  }
  return rules;
}

namespace {

constexpr const char* kOnTensors = "DebugRuleConfigurations";
constexpr const char* kOfProfiler = "ProfilerRuleConfigurations";

// Rules of the profiler come after the others, in the run too.
std::vector<RequestedRule> profiler_rules_of(const OrderedJson& request) {
  if (!request.contains(kOfProfiler)) return {};
  std::map<std::string, int> before;
  if (request.contains(kOnTensors)) {
    for (const RequestedRule& rule : requested_rules(request.at(kOnTensors))) ++before[rule.rule];
  }
  return requested_rules(request.at(kOfProfiler), std::move(before));
}

std::map<std::string, OrderedJson> seen_in(const OrderedJson& run) {
  std::map<std::string, OrderedJson> seen;
  for (const OrderedJson& status : run.value("DebugRuleEvaluationStatuses", OrderedJson::array())) {
    seen[text_of(status, kName)] = status;
  }
  return seen;
}

OrderedJson evaluations_of(const std::vector<RequestedRule>& rules, const std::map<std::string, OrderedJson>& seen,
                           const jobs::Transition& now) {
  OrderedJson list = OrderedJson::array();
  for (const RequestedRule& rule : rules) {
    const auto known = seen.find(rule.id);
    list.push_back(known == seen.end() ? not_judged(rule.name, now) : evaluation(known->second, rule.name, now));
  }
  return list;
}

}  // namespace

std::string requested_name(const OrderedJson& request, const std::string& id) {
  std::vector<RequestedRule> all = profiler_rules_of(request);
  if (request.contains(kOnTensors)) {
    for (RequestedRule& rule : requested_rules(request.at(kOnTensors))) all.push_back(std::move(rule));
  }
  for (const RequestedRule& rule : all) {
    if (rule.id == id) return rule.name;
  }
  return id;
}

OrderedJson rule_evaluations(const OrderedJson& request, const OrderedJson& run, const jobs::Transition& now) {
  const std::map<std::string, OrderedJson> seen = seen_in(run);
  if (request.contains(kOnTensors)) return evaluations_of(requested_rules(request.at(kOnTensors)), seen, now);
  std::set<std::string> of_profiler;
  for (const RequestedRule& rule : profiler_rules_of(request)) of_profiler.insert(rule.id);
  OrderedJson list = OrderedJson::array();
  for (const OrderedJson& status : run.value("DebugRuleEvaluationStatuses", OrderedJson::array())) {
    const std::string id = text_of(status, kName);
    if (!of_profiler.contains(id)) list.push_back(evaluation(status, id, now));
  }
  return list;
}

OrderedJson profiler_rule_evaluations(const OrderedJson& request, const OrderedJson& run, const jobs::Transition& now) {
  return evaluations_of(profiler_rules_of(request), seen_in(run), now);
}

}  // namespace trainwarden::sagemaker
