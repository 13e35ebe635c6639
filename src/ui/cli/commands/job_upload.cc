// `trainwarden job upload`: sends what a job has left here to its buckets, where that had failed.
#include <chrono>

#include <fmt/format.h>

#include "core/process/signal_relay.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/job_commands.h"
#include "ui/cli/options/job_choice.h"
#include "ui/cli/terminal/output.h"
#include "work/jobs/job_state.h"
#include "work/workspace/workspace.h"

namespace trainwarden::cli {
namespace {

struct JobUploadOptions {
  JobChoice job;
};

int act(const JobUploadOptions& options) {
  const auto job = options.job.open();
  if (!job.ok()) return report_error(job.status());
  const auto transitions = job->transitions();
  if (!transitions.ok()) return report_error(transitions.status());
  if (!jobs::is_terminal(transitions->back().status)) {
    return report_error(
        Status(Code::kFailedPrecondition, fmt::format("job {} is {}: it sends its results itself when it ends",
                                                      job->order().name, jobs::name(transitions->back().status))));
  }
  process::SignalRelay relay;  // before any thread
  const auto stages = workspace::create_workspace(*job);
  if (!stages.ok()) return report_error(stages.status());
  (*stages)->set_meanwhile([&] { return !relay.wait_for_end(std::chrono::milliseconds(0)); });
  if (const Status stored = (*stages)->store(); !stored.ok()) return report_error(stored);
  emit("{}: its checkpoints and results are where it was told to put them\n", job->order().name);
  return kExitFine;
}

}  // namespace

void add_job_upload(CLI::App& job, CommandAction& action) {
  auto options = std::make_shared<JobUploadOptions>();
  CLI::App& command = add_command(job, "upload", "Send the results of a job that has ended to its buckets once more",
                                  options, action, act);
  add_job_choice(command, options->job);
  set_examples(command, {"trainwarden job upload bert-7"});
}

}  // namespace trainwarden::cli
