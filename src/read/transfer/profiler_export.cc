#include "read/transfer/profiler_export.h"

#include <algorithm>
#include <array>
#include <system_error>

#include <fmt/format.h>

#include "core/base/no_throw.h"
#include "core/base/text.h"
#include "read/transfer/profiler_samples_out.h"
#include "read/transfer/profiler_steps_out.h"
#include "read/trial/printed_metrics.h"

namespace trainwarden::transfer {
namespace {

namespace fs = std::filesystem;

bool has_profile(const Trial& trial) {
  const std::vector<SampledMetric> metrics = trial.metrics();
  if (std::any_of(metrics.begin(), metrics.end(), trial::is_of_machine)) return true;
  if (trial.has_tensor("phase/step") || trial.has_tensor("phase/start")) return true;
  const std::vector<std::string> workers = trial.workers();
  return std::any_of(workers.begin(), workers.end(),
                     [&](const std::string& worker) { return !trial.operator_steps(worker).empty(); });
}

Status check_target(const ProfilerExportOptions& options) {
  std::error_code ignored;
  const fs::file_status there = fs::symlink_status(options.out, ignored);
  if (!fs::exists(there)) return {};
  if (!fs::is_directory(there)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{}: expected a folder, found something else", printable(options.out.string())));
  }
  if (options.force || fs::is_empty(options.out, ignored)) return {};
  return Status(Code::kAlreadyExists,
                fmt::format("{} is not empty; --force writes there nevertheless, and removes nothing",
                            printable(options.out.string())));
}

}  // namespace

Result<ProfilerExportReport> export_profiler(Trial& trial, const ProfilerExportOptions& options) {
  return no_throw([&]() -> Result<ProfilerExportReport> {
    if (options.interval_ns <= 0) return Status(Code::kInvalidArgument, "the interval of samples must be above 0");
    if (!has_profile(trial)) {
      return Status(
          Code::kNotFound,
          "the run has no samples of a machine, no phases of steps and no operator calls: there is nothing that a "
          "profiler of SageMaker's would have written");
    }
    TRAINWARDEN_RETURN_IF_ERROR(check_target(options));
    OutputTally tally;
    ProfilerExportReport report;
    TRAINWARDEN_RETURN_IF_ERROR(write_timelines(trial, options, tally, report));
    TRAINWARDEN_ASSIGN_OR_RETURN(report.samples, write_machine_samples(trial, options, tally));
    if (trial.loaded_all_steps()) {
      for (const char* part : {"system", "framework"}) {
        TRAINWARDEN_RETURN_IF_ERROR(write_file(options.out / part / "training_job_end.ts", "", tally));
      }
    }
    report.files = tally.files;
    report.bytes = tally.bytes;
    return report;
  });
}

}  // namespace trainwarden::transfer
