#include "ui/views/rule_board.h"

#include <algorithm>
#include <utility>

#include "judge/rules/registry.h"

namespace trainwarden::views {
namespace {

void take_fired(RuleOnBoard& rule, std::int64_t first_step, std::int64_t last_step, std::uint64_t times) {
  rule.first_fired_step = rule.times_fired == 0 ? first_step : std::min(rule.first_fired_step, first_step);
  rule.last_fired_step = std::max(rule.last_fired_step, last_step);
  rule.times_fired += times;
}

RuleOnBoard on_board(rules::RuleSummary summary) {
  RuleOnBoard rule;
  rule.kind = rules::find_builtin(summary.history.status.rule);
  for (const rules::VerdictRecord& record : summary.history.verdicts) {
    if (record.verdict.outcome != Outcome::kFired) continue;
    take_fired(rule, record.place.global_step, record.place.global_step, 1);
    rule.gravest = std::max(rule.gravest.value_or(record.verdict.severity), record.verdict.severity);
  }
  for (const rules::RepeatsRecord& repeats : summary.history.repeats) {
    if (repeats.outcome == Outcome::kFired) take_fired(rule, repeats.first_step, repeats.last_step, repeats.count);
  }
  rule.summary = std::move(summary);
  return rule;
}

}  // namespace

Result<std::vector<RuleOnBoard>> rule_board(const storage::Location& run) {
  TRAINWARDEN_ASSIGN_OR_RETURN(auto summaries, rules::summarize_rules(run));
  std::vector<RuleOnBoard> board;
  for (rules::RuleSummary& summary : summaries) board.push_back(on_board(std::move(summary)));
  return board;
}

}  // namespace trainwarden::views
