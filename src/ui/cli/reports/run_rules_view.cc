#include "ui/cli/reports/run_rules_view.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "core/base/rfc3339.h"
#include "judge/rules/rule_summary.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/reports/rule_report.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/table.h"

namespace trainwarden::cli {
namespace {

OrderedJson hits_of(const rules::RuleHistory& history) {
  OrderedJson hits = OrderedJson::array();
  for (const rules::VerdictRecord& verdict : history.verdicts) hits.push_back(cli::json_of(verdict));
  return hits;
}

OrderedJson transitions_of(const rules::RuleHistory& history) {
  OrderedJson transitions = OrderedJson::array();
  for (const rules::RuleStatusRecord& record : history.transitions) {
    transitions.push_back({{"Status", name(record.status)}, {"StartTime", format_rfc3339(record.unix_ns, 3)}});
  }
  return transitions;
}

OrderedJson json_of(const rules::RuleSummary& summary) {
  OrderedJson json = {{"RuleConfigurationName", summary.configuration_name},
                      {"RuleEvaluationJobArn", summary.job_arn},
                      {"RuleEvaluationStatus", summary.evaluation_status}};
  if (summary.status_details) json["StatusDetails"] = *summary.status_details;
  json["LastModifiedTime"] = format_rfc3339(summary.last_modified_unix_ns, 3);
  json["Status"] = name(summary.history.status.status);
  json["Journal"] = summary.history.journal;
  json["Transitions"] = transitions_of(summary.history);
  json["Hits"] = hits_of(summary.history);
  return json;
}

void print_for_people(const std::filesystem::path& run, const std::vector<rules::RuleSummary>& summaries) {
  if (summaries.empty()) {
    emit("No rule has judged {}. `{} check {} --rules default` does.\n", run_name(run), typed_program(),
         typed_run(run));
    return;
  }
  std::vector<rules::RuleStatusRecord> statuses;
  for (const rules::RuleSummary& summary : summaries) statuses.push_back(summary.history.status);
  print_statuses(stdout, statuses);
  for (const rules::RuleSummary& summary : summaries) {
    for (const rules::VerdictRecord& verdict : summary.history.verdicts) {
      emit("\n");
      print_verdict(stdout, verdict);
    }
  }
}

// What the engines wrote and nobody can read; the rest is shown.
void warn_of(const std::vector<RunLoss>& losses) {
  constexpr std::size_t kMostShown = 5;
  for (std::size_t i = 0; i < std::min(losses.size(), kMostShown); ++i) {
    emit(stderr, "trainwarden: warning: {}: not read: {}\n", losses[i].where, losses[i].cause);
  }
  if (losses.size() > kMostShown) {
    emit(stderr, "trainwarden: warning: {} more are not read\n", losses.size() - kMostShown);
  }
}

}  // namespace

int print_rules_of_run(const std::filesystem::path& run, bool json) {
  std::vector<RunLoss> losses;
  const auto summaries = rules::summarize_rules(run, losses);
  if (!summaries.ok()) return report_error(summaries.status());
  warn_of(losses);
  if (json) {
    OrderedJson list = OrderedJson::array();
    for (const rules::RuleSummary& summary : *summaries) list.push_back(json_of(summary));
    print_json(list);
  } else {
    print_for_people(run, *summaries);
  }
  return kExitFine;
}

}  // namespace trainwarden::cli
