#include "judge/rules/verdict_context.h"

#include <algorithm>

namespace trainwarden::rules {

const RuleRunner* cause_of(const std::deque<RuleRunner>& runners, const Consequences& consequences,
                           const RuleRunner& runner, std::int64_t global_step) {
  for (const RuleRunner& other : runners) {
    if (&other == &runner || other.last_fired_step() < 0) continue;
    if (global_step - other.last_fired_step() > kCauseReachSteps) continue;
    const auto& names = consequences.at(&other);
    if (std::find(names.begin(), names.end(), runner.spec().name) != names.end()) return &other;
  }
  return nullptr;
}

bool is_muted(const VerdictRecord& verdict, std::span<const std::string> keys) {
  const auto has = [&](const std::string& key) { return std::find(keys.begin(), keys.end(), key) != keys.end(); };
  return has(verdict.mute_key()) || has(verdict.rule_id) || has(verdict.rule);
}

}  // namespace trainwarden::rules
