// `trainwarden metrics show`: the metrics of a run's output as a table, in the shape of TrainingJobAnalytics' frame.
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/base/rfc3339.h"
#include "core/base/text.h"
#include "read/trial/trial_access.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/metrics_command.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/reports/output_view.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/table.h"
#include "ui/views/metric_frame.h"

namespace trainwarden::cli {
namespace {

struct MetricsShowOptions {
  RunChoice run;
  double period = 60;
  std::string relative = "metric";
  bool full = false;
  bool csv = false;
  bool json = false;

  views::MetricFrameQuestion question() const { return {period, *views::parse_frame_start(relative)}; }
};

// As pandas reads it, with every digit.
std::string csv_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return fmt::format("{}", value);
}

// RFC 4180: a field with a quote, a comma or a line end is quoted.
std::string csv_field(std::string_view text) {
  if (text.find_first_of("\",\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string step_text(const views::MetricRow& row) {
  return row.step ? std::to_string(*row.step) : "";
}

void print_csv(const std::vector<views::MetricRow>& rows, bool full) {
  emit("timestamp,metric_name,value{}\n", full ? ",step,host,time" : "");
  for (const views::MetricRow& row : rows) {
    emit("{},{},{}", csv_number(row.timestamp), csv_field(printable(row.metric)), csv_number(row.value));
    if (full) emit(",{},{},{}", step_text(row), csv_field(printable(row.host)), format_rfc3339(row.unix_ns, 3));
    emit("\n");
  }
}

void print_table(const std::vector<views::MetricRow>& rows, bool full) {
  std::vector<Column> columns = {{"TIMESTAMP", Align::kRight}, {"METRIC"}, {"VALUE", Align::kRight}};
  if (full) columns.insert(columns.end(), {{"STEP", Align::kRight}, {"HOST"}, {"TIME"}});
  Table table(columns);
  for (const views::MetricRow& row : rows) {
    std::vector<std::string> cells = {fmt::format("{:.3f}", row.timestamp), row.metric, format_number(row.value)};
    if (full) cells.insert(cells.end(), {step_text(row), row.host, format_rfc3339(row.unix_ns, 3)});
    table.add_row(cells);
  }
  emit("{}", Lines{table.to_string()});
}

// Of what was looked for, what has no row.
void print_absent(const std::optional<format::OutputReport>& report) {
  if (!report) {
    emit(stderr, "trainwarden: this run has no metrics from its program's output: `run --log FILE` and jobs have\n");
    return;
  }
  for (const format::OutputMetricCount& metric : report->metrics) {
    if (metric.values == 0) {
      emit(stderr, "trainwarden: warning: metric {} was not found in {} lines\n", metric.name, report->records);
    }
  }
}

int act(const MetricsShowOptions& options) {
  const auto trial = options.run.open();
  if (!trial.ok()) return report_error(trial.status());
  const auto rows = views::read_metric_frame(**trial, options.question());
  if (!rows.ok()) return report_error(rows.status());
  const auto report = TrialAccess::output_report(**trial);
  if (options.json) {
    print_json({{"run", run_name((*trial)->path())},
                {"period", options.period},
                {"relative", options.relative},
                {"rows", views::frame_json(*rows, options.full)},
                {"output", report ? format::json_of(*report) : OrderedJson()}});
    return kExitFine;
  }
  print_absent(report);
  if (options.csv) {
    print_csv(*rows, options.full);
  } else if (!rows->empty()) {
    print_table(*rows, options.full);
  }
  return kExitFine;
}

}  // namespace

void add_metrics_show(CLI::App& metrics, CommandAction& action) {
  auto options = std::make_shared<MetricsShowOptions>();
  MetricsShowOptions& o = *options;
  CLI::App& command = add_command(metrics, "show", "Show the metrics of a run's output, as TrainingJobAnalytics does",
                                  options, action, act);
  add_run_choice(command, o.run);
  command.add_option("--period", o.period, "Average over so many seconds; 0: each value as it is")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, views::kMostPeriodSeconds))
      ->capture_default_str();
  command
      .add_option("--relative", o.relative,
                  "What timestamps count from: each metric's own first row, the job's beginning, or none: 1970")
      ->type_name("TO")
      ->check(CLI::IsMember({"metric", "job", "none"}))
      ->capture_default_str();
  command.add_flag("--full", o.full, "With step, host and time");
  CLI::Option* const csv = command.add_flag("--csv", o.csv, "As CSV");
  add_json_flag(command, o.json);
  command.get_option("--json")->excludes(csv);
  set_examples(command, {"trainwarden metrics show first", "trainwarden metrics show first --csv > first.csv",
                         "trainwarden metrics show first --period 0 --relative job --full --json | jq '.rows[]'"});
}

}  // namespace trainwarden::cli
