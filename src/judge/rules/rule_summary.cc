#include "judge/rules/rule_summary.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "judge/rules/rule_standing.h"
#include "judge/rules/status_details.h"

namespace trainwarden::rules {
namespace {

const VerdictRecord* first_issue(const RuleHistory& history) {
  const auto fired = std::find_if(history.verdicts.begin(), history.verdicts.end(), [](const VerdictRecord& verdict) {
    return verdict.verdict.outcome == Outcome::kFired && verdict.verdict.severity != Severity::kInfo;
  });
  return fired == history.verdicts.end() ? nullptr : &*fired;
}

using RuleKey = std::pair<std::string, RuleParameters>;

RuleKey key_of(const RuleStatusRecord& status) {
  return {status.rule_id, status.parameters};
}

// `history`: of the journal that has the word.
RuleSummary summary_of(const std::string& run_name, const RuleStanding& standing, RuleHistory history) {
  history.status = standing.status;
  history.transitions = standing.transitions;
  RuleSummary summary;
  summary.configuration_name = standing.status.rule_id;
  summary.job_arn = rule_arn_of(run_name, standing.first_journal, standing.status.rule_id);
  summary.evaluation_status =
      evaluation_status_of(standing.status.status, standing.status.rule, standing.status.parameters);
  if (standing.status.status != RuleStatus::kInProgress) {
    summary.status_details = status_details_of(standing.status, first_issue(history));
  }
  summary.last_modified_unix_ns = standing.status.unix_ns;
  summary.history = std::move(history);
  return summary;
}

// What the engines have said, in the order of time.
RuleStandings standings_of(const std::vector<RuleHistory>& histories) {
  struct Said {
    const RuleHistory* history;
    const RuleStatusRecord* status;
  };
  std::vector<Said> all;
  for (const RuleHistory& history : histories) {
    for (const RuleStatusRecord& status : history.transitions) all.push_back({&history, &status});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Said& a, const Said& b) { return a.status->unix_ns < b.status->unix_ns; });
  RuleStandings standings;
  for (const Said& said : all) standings.take(said.history->journal, *said.status);
  return standings;
}

}  // namespace

Result<std::vector<RuleSummary>> summarize_rules(const storage::Location& run) {
  std::vector<RunLoss> ignored;
  return summarize_rules(run, ignored);
}

Result<std::vector<RuleSummary>> summarize_rules(const storage::Location& run, std::vector<RunLoss>& losses) {
  TRAINWARDEN_ASSIGN_OR_RETURN(std::vector<RuleHistory> histories, read_rule_histories(run, losses));
  const std::string run_name = run.name();
  const RuleStandings standings = standings_of(histories);
  std::map<RuleKey, const RuleStanding*> left;  // in no summary yet
  for (const RuleStanding& standing : standings.standings()) left.emplace(key_of(standing.status), &standing);
  std::vector<const RuleStanding*> ordered;
  std::map<std::pair<RuleKey, std::string>, RuleHistory*> by_journal;
  for (RuleHistory& history : histories) {
    const RuleKey key = key_of(history.status);
    by_journal[{key, history.journal}] = &history;
    const auto standing = left.find(key);
    if (standing == left.end()) continue;
    ordered.push_back(standing->second);
    left.erase(standing);
  }
  std::vector<RuleSummary> summaries;
  for (const RuleStanding* standing : ordered) {
    const auto history = by_journal.find({key_of(standing->status), standing->journal});
    RuleHistory own = history == by_journal.end() ? RuleHistory() : std::move(*history->second);
    summaries.push_back(summary_of(run_name, *standing, std::move(own)));
  }
  return summaries;
}

}  // namespace trainwarden::rules
