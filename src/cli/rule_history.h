// RuleHistory: what the engines that watched a run have written about one rule.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "rules/verdict_record.h"
#include "trainwarden/status.h"

namespace trainwarden::cli {

struct RuleHistory {
  std::string journal;                         // "watch-0"
  rules::RuleStatusRecord status;              // the newest
  std::vector<rules::VerdictRecord> verdicts;  // that fired or failed, each once, in the order of writing
};

// By journal, then in the order in which the rules were given. A rule that was in progress when its engine died is
// shown as stopped.
Result<std::vector<RuleHistory>> read_rule_histories(const std::filesystem::path& run);

// How many of the rules have fired.
std::size_t count_fired(const std::vector<RuleHistory>& histories);

}  // namespace trainwarden::cli
