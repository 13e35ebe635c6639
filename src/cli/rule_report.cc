#include "cli/rule_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/exit_code.h"
#include "cli/table.h"

namespace trainwarden::cli {

bool RuleReport::any_failed() const {
  return std::any_of(statuses.begin(), statuses.end(),
                     [](const rules::RuleStatusRecord& rule) { return rule.status == RuleStatus::kError; });
}

RuleReport report_of(const rules::Engine& engine) {
  return {engine.statuses(), engine.first_fired()};
}

int exit_code_of(const RuleReport& report) {
  if (report.any_fired()) return kExitRuleFired;
  return report.any_failed() ? kExitFailed : kExitFine;
}

void print_statuses(std::FILE* stream, const std::vector<rules::RuleStatusRecord>& statuses) {
  Table table({{"RULE"}, {"STATUS"}, {"DETAILS"}});
  for (const rules::RuleStatusRecord& rule : statuses) {
    table.add_row({printable(rule.rule_id), std::string(name(rule.status)), printable(rule.details)});
  }
  fmt::print(stream, "{}", table.to_string());
}

void print_verdict(std::FILE* stream, const rules::VerdictRecord& verdict) {
  fmt::print(stream, "{} fired at {}\n", printable(verdict.rule_id), rules::step_text(verdict.place));
  fmt::print(stream, "  {}\n", printable(verdict.verdict.message));
  if (!verdict.verdict.advice.empty()) fmt::print(stream, "  {}\n", printable(verdict.verdict.advice));
  Table table(
      {{"  TENSOR"}, {"QUANTITY"}, {"VALUE", Align::kRight}, {"LIMIT", Align::kRight}, {"STEP", Align::kRight}});
  for (const Evidence& evidence : verdict.verdict.evidence) {
    table.add_row({"  " + printable(evidence.tensor), evidence.quantity, format_number(evidence.value),
                   format_number(evidence.threshold), std::to_string(evidence.global_step)});
  }
  if (!table.empty()) fmt::print(stream, "{}", table.to_string());
}

void print_report(std::FILE* stream, const RuleReport& report) {
  print_statuses(stream, report.statuses);
  for (const rules::VerdictRecord& verdict : report.fired) {
    fmt::print(stream, "\n");
    print_verdict(stream, verdict);
  }
}

Json json_of(const rules::RuleStatusRecord& status) {
  return Json::parse(rules::encode_rule_status(status));
}
Json json_of(const rules::VerdictRecord& verdict) {
  return Json::parse(rules::encode_verdict(verdict));
}

Json json_of(const RuleReport& report) {
  Json statuses = Json::array();
  for (const rules::RuleStatusRecord& status : report.statuses) statuses.push_back(json_of(status));
  Json verdicts = Json::array();
  for (const rules::VerdictRecord& verdict : report.fired) verdicts.push_back(json_of(verdict));
  return {{"rules", std::move(statuses)}, {"verdicts", std::move(verdicts)}};
}

Result<std::vector<rules::EngineRule>> create_rules(const std::vector<std::string>& specs) {
  std::vector<RuleSpec> parsed;
  for (const std::string& text : specs) {
    TRAINWARDEN_ASSIGN_OR_RETURN(RuleSpec spec, parse_rule_spec(text));
    parsed.push_back(std::move(spec));
  }
  return rules::create_engine_rules(parsed);
}

}  // namespace trainwarden::cli
