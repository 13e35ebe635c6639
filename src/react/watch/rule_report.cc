#include "react/watch/rule_report.h"

#include <algorithm>

namespace trainwarden::watch {

void RuleReport::add(const rules::RuleHistory& rule) {
  statuses.push_back(rule.status);
  const auto first = std::find_if(rule.verdicts.begin(), rule.verdicts.end(), [](const rules::VerdictRecord& verdict) {
    return verdict.verdict.outcome == Outcome::kFired && verdict.verdict.severity != Severity::kInfo;
  });
  if (first != rule.verdicts.end()) fired.push_back(*first);
}

bool RuleReport::any_fired() const {
  return std::any_of(fired.begin(), fired.end(), [](const rules::VerdictRecord& verdict) { return verdict.alarms(); });
}

bool RuleReport::any_failed() const {
  return std::any_of(statuses.begin(), statuses.end(),
                     [](const rules::RuleStatusRecord& rule) { return rule.status == RuleStatus::kError; });
}

RuleReport report_of(const rules::Engine& engine) {
  return {engine.statuses(), engine.first_fired()};
}

}  // namespace trainwarden::watch
