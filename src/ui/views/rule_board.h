// The board of rules: where each rule of a run stands, and every verdict that speaks of it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "judge/rules/rule_summary.h"
#include "store/storage/location.h"
#include "trainwarden/rule.h"
#include "trainwarden/status.h"

namespace trainwarden::views {

struct RuleOnBoard {
  rules::RuleSummary summary;
  const RuleKind* kind = nullptr;  // null: a rule of the user's own
  std::uint64_t times_fired = 0;   // verdicts that fired, with those that were folded
  std::int64_t first_fired_step = -1;
  std::int64_t last_fired_step = -1;
  std::optional<Severity> gravest;  // of what fired
};

// In the order of rules::summarize_rules(). Empty for a run that no rule has judged.
Result<std::vector<RuleOnBoard>> rule_board(const storage::Location& run);

}  // namespace trainwarden::views
