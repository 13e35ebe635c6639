#include "ui/cli/reports/job_rule_view.h"

#include <utility>

#include <fmt/format.h>

#include "core/base/rfc3339.h"
#include "core/base/text.h"
#include "ui/cli/terminal/table.h"

namespace trainwarden::cli {

Result<std::vector<jobs::JobRule>> read_job_rules(const jobs::JobRecord& job, const jobs::Transition& now) {
  TRAINWARDEN_ASSIGN_OR_RETURN(std::vector<jobs::JobRule> rules, jobs::JobRules(job.place()).list());
  for (jobs::JobRule& rule : rules) rule = jobs::settled_rule(std::move(rule), now);
  return rules;
}

std::string job_rules_text(const jobs::JobRecord& job, const std::vector<jobs::JobRule>& rules) {
  if (rules.empty()) return {};
  Table table({{"RULE"}, {"STATUS"}, {"ALERTS", Align::kRight}, {"STEP", Align::kRight}, {"DETAILS"}});
  for (const jobs::JobRule& rule : rules) {
    table.add_row({rule.id, rule.status, std::to_string(rule.alerts), rule.step < 0 ? "-" : std::to_string(rule.step),
                   rule.details});
  }
  return fmt::format("\n{}\nlogs of the rules: {}/RULE.log\n", table.to_string(),
                     printable((job.place().path() / jobs::kRuleFolder).string()));
}

OrderedJson job_rules_json(const jobs::JobRecord& job, const std::vector<jobs::JobRule>& rules) {
  OrderedJson list = OrderedJson::array();
  for (const jobs::JobRule& rule : rules) {
    list.push_back({{"rule", rule.id},
                    {"status", rule.status},
                    {"details", rule.details},
                    {"changed", format_rfc3339(rule.changed_unix_ns, 3)},
                    {"alerts", rule.alerts},
                    {"step", rule.step < 0 ? OrderedJson(nullptr) : OrderedJson(rule.step)},
                    {"log", (job.place().path() / jobs::rule_log_file(rule.id)).string()}});
  }
  return list;
}

}  // namespace trainwarden::cli
