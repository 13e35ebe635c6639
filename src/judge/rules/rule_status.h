// How a rule's status may change.
#pragma once

#include "trainwarden/rule.h"

namespace trainwarden::rules {

// InProgress → IssuesFound | NoIssuesFound | NotApplicable | Error | Stopping, Stopping → Stopped, and
// IssuesFound → Error when a rule that is judged on fails later. All others stay as they are. Source: the rule
// evaluation states of SageMaker Debugger.
bool may_follow(RuleStatus from, RuleStatus to);

}  // namespace trainwarden::rules
