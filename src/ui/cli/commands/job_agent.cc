// `trainwarden job agent`: not for people. `submit` starts it; it starts the job and stays with it.
#include <unistd.h>

#include "core/base/clock.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/job_commands.h"
#include "ui/cli/options/job_choice.h"
#include "work/jobs/job_agent.h"

namespace trainwarden::cli {
namespace {

struct JobAgentOptions {
  JobChoice job;
};

int act(const JobAgentOptions& options) {
  ::setsid();  // the terminal of who submitted may be closed
  Result<jobs::JobRecord> job = options.job.open();
  if (!job.ok()) return report_error(job.status());
  const Status status = jobs::run_agent(*job, system_clock());
  return status.ok() ? kExitFine : report_error(status);
}

}  // namespace

void add_job_agent(CLI::App& job, CommandAction& action) {
  auto options = std::make_shared<JobAgentOptions>();
  CLI::App& command = add_command(job, "agent", "Start a job and stay with it", options, action, act);
  command.group("");  // hidden
  add_job_choice(command, options->job);
}

}  // namespace trainwarden::cli
