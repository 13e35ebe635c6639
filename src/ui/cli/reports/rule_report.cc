#include "ui/cli/reports/rule_report.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/rfc3339.h"
#include "core/base/text.h"
#include "judge/rules/verdict_json.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/table.h"

namespace trainwarden::cli {

int exit_code_of(const watch::RuleReport& report) {
  if (report.any_fired()) return kExitRuleFired;
  return report.any_failed() ? kExitFailed : kExitFine;
}

void print_statuses(std::FILE* stream, const std::vector<rules::RuleStatusRecord>& statuses) {
  Table table({{"RULE"}, {"STATUS"}, {"DETAILS"}});
  for (const rules::RuleStatusRecord& rule : statuses) {
    table.add_row({rule.rule_id, std::string(name(rule.status)), rule.details});
  }
  emit(stream, "{}", Lines{table.to_string()});
}

std::string fired_text(const rules::VerdictRecord& verdict) {
  const bool note = verdict.verdict.severity == Severity::kInfo;
  std::string text = fmt::format("{} {} {}", printable(verdict.rule_id), note ? "notes at" : "fired at",
                                 rules::place_text(verdict.place));
  if (verdict.verdict.confidence < 1) text += fmt::format(", {:.0f} % sure", 100 * verdict.verdict.confidence);
  if (!verdict.consequence_of.empty())
    text += fmt::format(", which follows from {}", printable(verdict.consequence_of));
  if (verdict.muted) text += ", muted";
  return text;
}

namespace {

constexpr std::array kInWords = {std::pair(RuleStatus::kIssuesFound, "fired"),
                                 std::pair(RuleStatus::kError, "failed"),
                                 std::pair(RuleStatus::kNoIssuesFound, "found nothing"),
                                 std::pair(RuleStatus::kNotApplicable, "had nothing to judge"),
                                 std::pair(RuleStatus::kInProgress, "are judging"),
                                 std::pair(RuleStatus::kStopping, "are stopping"),
                                 std::pair(RuleStatus::kStopped, "were stopped")};

// "14:03:20"
std::string time_of_day(std::int64_t unix_ns) {
  return format_rfc3339(unix_ns, 0).substr(std::string_view("2026-11-21T").size(), std::string_view("14:03:20").size());
}

}  // namespace

void print_verdict(std::FILE* stream, const rules::VerdictRecord& verdict) {
  emit(stream, "{}\n", fired_text(verdict));
  emit(stream, "  {}\n", verdict.verdict.message);
  if (!verdict.verdict.advice.empty()) emit(stream, "  {}\n", verdict.verdict.advice);
  const bool of_time = verdict.place.is_time();
  Table table({{of_time ? "  METRIC" : "  TENSOR"},
               {"QUANTITY"},
               {"VALUE", Align::kRight},
               {"LIMIT", Align::kRight},
               {of_time ? "TIME (UTC)" : "STEP", Align::kRight}});
  for (const Evidence& evidence : verdict.verdict.evidence) {
    table.add_row({"  " + (evidence.tensor.empty() ? evidence.metric : evidence.tensor), evidence.quantity,
                   format_number(evidence.value), format_number(evidence.threshold),
                   evidence.unix_ns == 0 ? std::to_string(evidence.global_step) : time_of_day(evidence.unix_ns)});
  }
  if (!table.empty()) emit(stream, "{}", Lines{table.to_string()});
  if (!verdict.muted) emit(stream, "  To hear of it no more: --mute '{}'\n", verdict.mute_key());
}

void print_report(std::FILE* stream, const watch::RuleReport& report) {
  print_statuses(stream, report.statuses);
  for (const rules::VerdictRecord& verdict : report.fired) {
    emit(stream, "\n");
    print_verdict(stream, verdict);
  }
}

void print_report_in_short(std::FILE* stream, const watch::RuleReport& report) {
  std::map<RuleStatus, std::size_t> counts;
  for (const rules::RuleStatusRecord& status : report.statuses) ++counts[status.status];
  std::vector<std::string> parts;
  for (const auto& [status, words] : kInWords) {
    if (counts[status] > 0) parts.push_back(fmt::format("{} {}", counts[status], words));
  }
  emit(stream, "Of {} rules {}.\n", report.statuses.size(), fmt::join(parts, ", "));
  for (const rules::VerdictRecord& verdict : report.fired) emit(stream, "  - {}\n", fired_text(verdict));
  for (const rules::RuleStatusRecord& status : report.statuses) {
    if (status.status == RuleStatus::kError)
      emit(stream, "  - {} failed: {}\n", printable(status.rule_id), status.details);
  }
}

OrderedJson json_of(const rules::RuleStatusRecord& status) {
  return rules::rule_status_json(status);
}
OrderedJson json_of(const rules::VerdictRecord& verdict) {
  return rules::verdict_json(verdict);
}

OrderedJson json_of(const watch::RuleReport& report) {
  OrderedJson statuses = OrderedJson::array();
  for (const rules::RuleStatusRecord& status : report.statuses) statuses.push_back(json_of(status));
  OrderedJson verdicts = OrderedJson::array();
  for (const rules::VerdictRecord& verdict : report.fired) verdicts.push_back(json_of(verdict));
  return {{"rules", std::move(statuses)}, {"verdicts", std::move(verdicts)}};
}

}  // namespace trainwarden::cli
