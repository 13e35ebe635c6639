// VetoRecord: that a rule inside the training kept an optimizer from stepping, as JSON in action frames.
#pragma once

#include <string>

#include "judge/rules/verdict_record.h"
#include "trainwarden/hook.h"

namespace trainwarden::guard {

// {"type": "veto", "action": "skip_step", "rule_id": "ExplodingTensor", "step": 7} (docs/reference/guard.md).
std::string encode_veto(const rules::VerdictRecord& verdict, StepAdvice advice);

}  // namespace trainwarden::guard
