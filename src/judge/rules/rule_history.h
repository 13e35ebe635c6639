// RuleHistory: what the engines that judged a run have written about one rule.
#pragma once

#include <string>
#include <vector>

#include "judge/rules/verdict_record.h"
#include "store/storage/location.h"
#include "trainwarden/run_loss.h"
#include "trainwarden/status.h"

namespace trainwarden::rules {

struct RuleHistory {
  std::string journal;                        // "watch-0"
  RuleStatusRecord status;                    // where the rule stands, by this journal
  std::vector<RuleStatusRecord> transitions;  // how it got there (judge/rules/rule_standing.h); the last is `status`
  std::vector<VerdictRecord> verdicts;        // that fired or failed, each once, in the order of writing
  std::vector<RepeatsRecord> repeats{};       // of those verdicts, that were folded into the one before them
};

// By journal, then in the order in which the rules were given. A rule that was in progress when its engine died is
// shown as stopped. None for a run that another recorder wrote: nobody writes into it.
Result<std::vector<RuleHistory>> read_rule_histories(const storage::Location& run);
// The same; what cannot be read of the engines' journals is added to `losses`.
Result<std::vector<RuleHistory>> read_rule_histories(const storage::Location& run, std::vector<RunLoss>& losses);

}  // namespace trainwarden::rules
