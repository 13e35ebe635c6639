// RuleReport: what rules made of a run.
#pragma once

#include <vector>

#include "judge/rules/engine.h"
#include "judge/rules/rule_history.h"
#include "judge/rules/verdict_record.h"

namespace trainwarden::watch {

struct RuleReport {
  std::vector<rules::RuleStatusRecord> statuses;  // one a rule
  std::vector<rules::VerdictRecord> fired;        // the first of each rule that fired

  void add(const rules::RuleHistory& rule);

  bool any_fired() const;  // something to be alarmed about: not muted, and no consequence of something else
  bool any_failed() const;
};
RuleReport report_of(const rules::Engine& engine);

}  // namespace trainwarden::watch
