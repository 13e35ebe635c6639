#include "ui/cli/reports/export_view.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/table.h"

namespace trainwarden::cli {

void ExportView::show(std::int64_t global_step) {
  constexpr std::chrono::milliseconds kInterval{100};
  const auto now = std::chrono::steady_clock::now();
  if (!line_.interactive() || now - shown_ < kInterval) return;
  shown_ = now;
  line_.show(fmt::format("step {} of {}", global_step, trial_.last_complete_step()));
}

void print_export(const ExportOptions& options, const ExportReport& report) {
  emit("{}: {} steps, {} records, {} in {} files{}\n", options.out.string(), report.steps, report.records,
       format_bytes(report.bytes), report.files, report.run_ended ? "" : "; the run has not ended");
  if (report.steps == 0) emit(stderr, "no step of the run matches\n");
  Table table({{"NOT AS IN THE RUN"}, {"WHAT"}, {"TIMES", Align::kRight}, {"FIRST"}});
  for (const ExportNote& note : report.notes) {
    table.add_row({note.lost ? "lost" : "changed", note.cause, std::to_string(note.count), note.first});
  }
  if (!report.notes.empty()) emit("{}", Lines{table.to_string()});
}

OrderedJson json_of(const Trial& trial, const ExportOptions& options, const ExportReport& report) {
  OrderedJson notes = OrderedJson::array();
  for (const ExportNote& note : report.notes) {
    notes.push_back({{"cause", note.cause}, {"lost", note.lost}, {"count", note.count}, {"first", note.first}});
  }
  return {{"run", run_name(trial.path())}, {"format", name(options.format)},
          {"out", options.out.string()},   {"steps", report.steps},
          {"records", report.records},     {"files", report.files},
          {"bytes", report.bytes},         {"damaged", report.damaged},
          {"run_ended", report.run_ended}, {"notes", notes}};
}

}  // namespace trainwarden::cli
