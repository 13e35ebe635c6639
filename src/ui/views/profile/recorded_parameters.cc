#include "ui/views/profile/recorded_parameters.h"

#include "core/base/log.h"
#include "judge/rules/builtin/profiler/profiler_rules.h"
#include "judge/rules/rule_history.h"
#include "read/trial/trial_access.h"

namespace trainwarden::views {

ParametersOfRules recorded_parameters(const Trial& trial) {
  ParametersOfRules found;
  const auto histories = rules::read_rule_histories(TrialAccess::location(trial));
  if (!histories.ok()) {
    log(LogLevel::kWarning, "the rules' parameters are not known, and those that are usual count: {}",
        histories.status().message());
    return found;
  }
  RuleParameters of_report;
  for (const rules::RuleHistory& history : *histories) {
    const bool is_report = history.status.rule == rules::kProfilerReport;
    (is_report ? of_report : found[history.status.rule]) = history.status.parameters;
  }
  for (auto& [rule, parameters] : rules::parameters_handed_on(of_report)) {
    parameters.merge(found[rule]);  // what is there already stays
    found[rule] = std::move(parameters);
  }
  return found;
}

}  // namespace trainwarden::views
