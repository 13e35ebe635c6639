// What a verdict is to those who are notified of it, beside what it says: does another one explain it, was it muted?
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "judge/rules/rule_runner.h"
#include "judge/rules/verdict_record.h"

namespace trainwarden::rules {

// A verdict explains what follows within so many steps.
inline constexpr std::int64_t kCauseReachSteps = 1000;

// RuleDescription::consequences of each rule.
using Consequences = std::map<const RuleRunner*, std::vector<std::string>>;

// The rule whose verdict at this step, or not long before, explains one of `runner`; null when there is none. Every
// runner is in `consequences`.
const RuleRunner* cause_of(const std::deque<RuleRunner>& runners, const Consequences& consequences,
                           const RuleRunner& runner, std::int64_t global_step);

// Do the keys name it: by its mute key, its rule's id or its rule?
bool is_muted(const VerdictRecord& verdict, std::span<const std::string> keys);

}  // namespace trainwarden::rules
