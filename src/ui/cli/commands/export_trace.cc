#include "ui/cli/commands/export_trace.h"

#include <chrono>
#include <filesystem>
#include <stop_token>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/process/signal_relay.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/trace_file.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"

namespace trainwarden::cli {
namespace {

namespace fs = std::filesystem;
using transfer::TraceOptions;
using transfer::TraceReport;

struct WrittenTrace {
  TraceReport report;
  std::uint64_t file_bytes = 0;
};

// A trace takes the place of a plain file only: never of a device, a link or a folder.
Status check_place(const fs::path& out, bool force) {
  std::error_code ignored;
  const fs::file_status there = fs::symlink_status(out, ignored);
  if (fs::exists(there) && !fs::is_regular_file(there)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{}: expected the name of a new file or of a plain one, found {}", out.string(),
                              fs::is_directory(there) ? "a folder"
                              : fs::is_symlink(there) ? "a link"
                                                      : "a device"));
  }
  if (fs::exists(there) && !force) {
    return Status(Code::kAlreadyExists, fmt::format("{} is there; --force writes it anew", out.string()));
  }
  const std::string meanwhile = out.string() + ".tmp";
  if (!fs::exists(fs::symlink_status(meanwhile, ignored))) return {};
  return Status(Code::kAlreadyExists,
                fmt::format("{} is there, and a trace has this name until it is whole; move it away", meanwhile));
}

Result<WrittenTrace> write_file(Trial& trial, TraceOptions options, const fs::path& out, bool force) {
  TRAINWARDEN_RETURN_IF_ERROR(check_place(out, force));
  // Ctrl-C ends the trace after a whole step.
  process::SignalRelay relay;
  std::stop_source ended_by_user;
  options.stop = ended_by_user.get_token();
  options.on_step = [&](std::int64_t) {
    const auto received = relay.wait(std::chrono::milliseconds(0));
    if (received && received->number != SIGCHLD) ended_by_user.request_stop();
  };
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto file, TraceFile::create(out));
  WrittenTrace written;
  TRAINWARDEN_ASSIGN_OR_RETURN(written.report, transfer::write_trace(trial, options, *file));
  TRAINWARDEN_RETURN_IF_ERROR(file->commit());
  written.file_bytes = file->bytes();
  return written;
}

void print_as_json(const Trial& trial, const TraceCommand& command, const std::string& out,
                   const WrittenTrace& written) {
  const TraceReport& report = written.report;
  print_json({{"run", run_name(trial.path())},
              {"format", name(command.format)},
              {"out", out},
              {"steps", report.steps},
              {"calls", report.calls},
              {"bytes", written.file_bytes},
              {"left_out_steps", report.left_out_steps},
              {"left_out_calls", report.left_out_calls},
              {"lost_calls", report.lost_calls},
              {"damaged_steps", report.damaged_steps}});
}

void print_for_people(const std::string& out, const WrittenTrace& written) {
  const TraceReport& report = written.report;
  emit("{}: steps: {}, calls: {}, {}\n", out, report.steps, report.calls, format_bytes(written.file_bytes));
  if (report.left_out_steps + report.left_out_calls > 0) {
    emit("Left out, as viewers give up on larger files: steps: {}, calls: {}; choose fewer with --steps or --worker\n",
         report.left_out_steps, report.left_out_calls);
  }
  if (report.lost_calls > 0) emit("calls that could not be kept or read: {}\n", report.lost_calls);
  if (report.damaged_steps > 0) emit(stderr, "trainwarden: warning: damaged steps: {}\n", report.damaged_steps);
}

}  // namespace

int export_trace(const TraceCommand& command, const BucketDetour& out) {
  TraceOptions options;
  options.format = command.format;
  options.choice.workers = command.workers;
  if (!command.steps.empty()) {
    auto steps = parse_step_ranges(command.steps);
    if (!steps.ok()) return report_error(steps.status());
    options.choice.steps = *std::move(steps);
  }
  const auto trial = command.run.open();
  if (!trial.ok()) return report_error(trial.status());
  const auto written = write_file(**trial, options, out.local(), command.force);
  if (!written.ok()) return report_error(written.status());
  if (const Status sent = out.send(); !sent.ok()) return report_error(sent);
  if (command.json) {
    print_as_json(**trial, command, out.address(), *written);
  } else {
    print_for_people(out.address(), *written);
  }
  return written->report.damaged_steps > 0 ? kExitDataLost : kExitFine;
}

}  // namespace trainwarden::cli
