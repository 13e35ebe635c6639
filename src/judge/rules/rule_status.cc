#include "judge/rules/rule_status.h"

namespace trainwarden::rules {

bool may_follow(RuleStatus from, RuleStatus to) {
  switch (from) {
    case RuleStatus::kInProgress: return to != RuleStatus::kInProgress && to != RuleStatus::kStopped;
    case RuleStatus::kStopping: return to == RuleStatus::kStopped;
    case RuleStatus::kIssuesFound: return to == RuleStatus::kError;
    case RuleStatus::kNoIssuesFound:
    case RuleStatus::kNotApplicable:
    case RuleStatus::kStopped:
    case RuleStatus::kError: return false;
  }
  return false;
}

}  // namespace trainwarden::rules
