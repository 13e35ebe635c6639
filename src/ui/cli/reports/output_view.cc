#include "ui/cli/reports/output_view.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "data/format/output_report.h"
#include "read/trial/printed_metrics.h"
#include "read/trial/trial_access.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/table.h"
#include "work/log_metrics/record_splitter.h"

namespace trainwarden::cli {
namespace {

constexpr std::size_t kMostPrintedShown = 40;

// What was seen and is not among the values, a line each.
std::string troubles_of(const format::OutputReport& report) {
  std::string text;
  for (const format::OutputMetricCount& metric : report.metrics) {
    if (metric.parse_errors > 0) {
      text += fmt::format("{}: matches that are no number: {}, the first \"{}\"\n", printable(metric.name),
                          metric.parse_errors, printable(metric.first_unreadable));
    }
    if (metric.given_up > 0) {
      text +=
          fmt::format("{}: records on which the search took too long: {}\n", printable(metric.name), metric.given_up);
    }
    if (metric.duplicates > 0) {
      text += fmt::format("{}: left out, the same value again within 100 ms: {}\n", printable(metric.name),
                          metric.duplicates);
    }
  }
  if (report.cut_records > 0) {
    text += fmt::format("lines longer than {}, of which only the beginning was read: {}\n",
                        format_bytes(log_metrics::kMaxRecordBytes), report.cut_records);
  }
  if (report.restarts > 0) text += fmt::format("times that the log was emptied: {}\n", report.restarts);
  if (report.lost_values > 0) text += fmt::format("values that could not be kept: {}\n", report.lost_values);
  return text;
}

std::uint64_t count_values(const format::OutputReport& report) {
  std::uint64_t values = 0;
  for (const format::OutputMetricCount& metric : report.metrics) values += metric.values;
  return values;
}

}  // namespace

void print_output_result(const output::OutputResult& result) {
  const format::OutputReport& report = result.report;
  std::vector<std::string> absent;
  for (const format::OutputMetricCount& metric : report.metrics) {
    if (metric.values == 0) absent.push_back(printable(metric.name));
  }
  emit(stderr, "trainwarden: in the output: metrics: {}, values: {}{}\n", report.metrics.size() - absent.size(),
       count_values(report), absent.empty() ? "" : fmt::format("; not found: {}", fmt::join(absent, ", ")));
  const std::string troubles = troubles_of(report);
  for (std::size_t begin = 0, end; (end = troubles.find('\n', begin)) != std::string::npos; begin = end + 1) {
    emit(stderr, "trainwarden: {}\n", troubles.substr(begin, end - begin));
  }
  if (!result.status.ok()) report_error(result.status);
}

void print_printed_metrics(std::FILE* out, Trial& trial) {
  const auto report = TrialAccess::output_report(trial);
  if (!report) return;
  const auto last = trial::last_printed(trial, kMostPrintedShown);
  Table table({{"PRINTED METRIC"}, {"LAST VALUE", Align::kRight}, {"STEP", Align::kRight}});
  for (const trial::LastPrinted& one : last.value_or({})) {
    table.add_row({one.metric.metric.name, format_number(one.value.value),
                   one.value.step ? std::to_string(*one.value.step) : "-"});
  }
  if (!table.empty()) emit(out, "\n{}", Lines{table.to_string()});
  emit(out, "{}", Lines{troubles_of(*report)});
  if (!last.ok()) report_error(last.status());
}

}  // namespace trainwarden::cli
