#include "ui/cli/commands/export_profile.h"

#include "core/base/no_throw.h"
#include "core/base/text.h"
#include "read/transfer/profiler_export.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"

namespace trainwarden::cli {
namespace {

using transfer::ProfilerExportReport;

void print_profile(const std::string& out, const ProfilerExportReport& report) {
  emit("{}: samples: {}, steps: {}, operator calls: {}, {} in {} files\n", out, report.samples, report.steps,
       report.calls, format_bytes(report.bytes), report.files);
  if (report.steps_without_times > 0) {
    emit("left out, as it is not known how long they took: {} steps\n", report.steps_without_times);
  }
  if (report.lost_calls > 0) emit("calls that could not be kept or read: {}\n", report.lost_calls);
  if (report.damaged_steps > 0) emit(stderr, "trainwarden: warning: damaged steps: {}\n", report.damaged_steps);
}

}  // namespace

int export_profile(const ProfileCommand& command, const BucketDetour& out) {
  const auto trial = command.run.open();
  if (!trial.ok()) return report_error(trial.status());
  Result<ProfilerExportReport> report = Status(Code::kInternal, "not written");
  out.attend([&] {
    report = no_throw([&] {
      return transfer::export_profiler(**trial,
                                       {.out = out.local(), .workers = command.workers, .force = command.force});
    });
  });
  if (!report.ok()) return report_error(report.status());
  if (const Status sent = out.send(); !sent.ok()) return report_error(sent);
  if (command.json) {
    print_json({{"run", run_name((*trial)->path())},
                {"format", kSmdebugProfiler},
                {"out", out.address()},
                {"samples", report->samples},
                {"steps", report->steps},
                {"calls", report->calls},
                {"files", report->files},
                {"bytes", report->bytes},
                {"steps_without_times", report->steps_without_times},
                {"lost_calls", report->lost_calls},
                {"damaged_steps", report->damaged_steps}});
  } else {
    print_profile(out.address(), *report);
  }
  return report->damaged_steps > 0 ? kExitDataLost : kExitFine;
}

}  // namespace trainwarden::cli
