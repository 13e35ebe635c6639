#include "rules/rule_summary.h"

#include <algorithm>
#include <utility>

#include "rules/rule_standing.h"
#include "rules/status_details.h"

namespace trainwarden::rules {
namespace {

const VerdictRecord* first_issue(const RuleHistory& history) {
  const auto fired = std::find_if(history.verdicts.begin(), history.verdicts.end(), [](const VerdictRecord& verdict) {
    return verdict.verdict.outcome == Outcome::kFired && verdict.verdict.severity != Severity::kInfo;
  });
  return fired == history.verdicts.end() ? nullptr : &*fired;
}

bool same_rule(const RuleStatusRecord& a, const RuleStatusRecord& b) {
  return a.rule_id == b.rule_id && a.parameters == b.parameters;
}

// The history of the journal that has the word, with what the rule went through over all of them.
RuleHistory history_of(const RuleStanding& standing, const std::vector<RuleHistory>& histories) {
  RuleHistory history;
  for (const RuleHistory& candidate : histories) {
    if (candidate.journal == standing.journal && same_rule(candidate.status, standing.status)) history = candidate;
  }
  history.status = standing.status;
  history.transitions = standing.transitions;
  return history;
}

RuleSummary summary_of(const std::string& run_name, const RuleStanding& standing, RuleHistory history) {
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

Result<std::vector<RuleSummary>> summarize_rules(const std::filesystem::path& run) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<RuleHistory> histories, read_rule_histories(run));
  const std::string run_name = std::filesystem::absolute(run).lexically_normal().filename().string();
  const RuleStandings standings = standings_of(histories);
  std::vector<const RuleStanding*> ordered;
  for (const RuleHistory& history : histories) {
    for (const RuleStanding& standing : standings.standings()) {
      if (!same_rule(standing.status, history.status)) continue;
      if (std::find(ordered.begin(), ordered.end(), &standing) == ordered.end()) ordered.push_back(&standing);
    }
  }
  std::vector<RuleSummary> summaries;
  for (const RuleStanding* standing : ordered) {
    summaries.push_back(summary_of(run_name, *standing, history_of(*standing, histories)));
  }
  return summaries;
}

}  // namespace trainwarden::rules
