// `trainwarden job ssh-follower`: not for people. It brings the files of a job here from the host that it runs on.
#include <unistd.h>

#include "core/base/clock.h"
#include "core/process/signal_relay.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/job_commands.h"
#include "ui/cli/options/job_choice.h"
#include "work/ssh/follower.h"

namespace trainwarden::cli {
namespace {

struct SshFollowerOptions {
  JobChoice job;
};

int act(const SshFollowerOptions& options) {
  ::setsid();  // the terminal of who submitted may be closed
  process::SignalRelay signals;
  Result<jobs::JobRecord> job = options.job.open();
  if (!job.ok()) return report_error(job.status());
  ssh::FollowerSurroundings surroundings;
  surroundings.pause = [&signals](std::chrono::milliseconds time) {
    const auto signal = signals.wait(time);
    return !signal || (signal->number != SIGTERM && signal->number != SIGINT);
  };
  const Status status = ssh::follow(*job, system_clock(), surroundings);
  return status.ok() ? kExitFine : report_error(status);
}

}  // namespace

void add_job_ssh_follower(CLI::App& job, CommandAction& action) {
  auto options = std::make_shared<SshFollowerOptions>();
  CLI::App& command = add_command(job, "ssh-follower", "Bring a job's files here", options, action, act);
  command.group("");  // hidden
  add_job_choice(command, options->job);
}

}  // namespace trainwarden::cli
