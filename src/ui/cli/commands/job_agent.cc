// `trainwarden job agent`: not for people. The keeper of the queue starts it; it starts the job and stays with it.
#include <unistd.h>

#include <chrono>

#include "core/base/clock.h"
#include "core/process/signal_relay.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/job_commands.h"
#include "ui/cli/options/job_choice.h"
#include "ui/cli/running/job_experiment.h"
#include "ui/cli/running/job_keeper.h"
#include "work/jobs/job_agent.h"
#include "work/workspace/workspace.h"

namespace trainwarden::cli {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kKeeperInterval{2};

struct JobAgentOptions {
  JobChoice job;
};

int act(const JobAgentOptions& options) {
  ::setsid();  // the terminal of who submitted may be closed
  process::SignalRelay signals;
  Result<jobs::JobRecord> job = options.job.open();
  if (!job.ok()) return report_error(job.status());
  try_ensure_job_is_told_of(*job);
  auto look_at = steady_clock::now() + kKeeperInterval;
  const auto look = [&] {
    if (steady_clock::now() < look_at) return;
    look_at = steady_clock::now() + kKeeperInterval;
    try_ensure_job_keeper(jobs_folder(options.job.jobs));
  };
  const auto stages = workspace::create_workspace(*job);
  if (!stages.ok()) return report_error(stages.status());
  const Status status =
      jobs::run_agent(*job, system_clock(), {.signals = &signals, .look = look, .stages = stages->get()});
  try_ensure_job_deliverer(jobs_folder(options.job.jobs));
  if (!status.ok()) return report_error(status);
  const Status recorded = record_job_end(*job);
  return recorded.ok() ? kExitFine : report_error(recorded);
}

}  // namespace

void add_job_agent(CLI::App& job, CommandAction& action) {
  auto options = std::make_shared<JobAgentOptions>();
  CLI::App& command = add_command(job, "agent", "Start a job and stay with it", options, action, act);
  command.group("");  // hidden
  add_job_choice(command, options->job);
}

}  // namespace trainwarden::cli
