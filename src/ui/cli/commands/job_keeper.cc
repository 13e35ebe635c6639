// `trainwarden job keeper`: not for people. It starts the jobs that wait, when there is room for them.
#include <unistd.h>

#include "core/base/clock.h"
#include "core/process/signal_relay.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/job_commands.h"
#include "ui/cli/options/job_choice.h"
#include "ui/cli/running/job_keeper.h"
#include "work/queue/keeper.h"
#include "work/queue/machine.h"

namespace trainwarden::cli {
namespace {

constexpr std::chrono::seconds kQueueDelivererInterval{2};

struct JobKeeperOptions {
  std::string jobs;
};

int act(const JobKeeperOptions& options) {
  ::setsid();  // the terminal of who submitted may be closed
  process::SignalRelay signals;
  const std::filesystem::path jobs = std::filesystem::absolute(jobs_folder(options.jobs));
  queue::JobQueue queue(jobs, queue::this_host());
  queue::KeeperSurroundings surroundings;
  surroundings.may_start = [](const jobs::JobRecord& job) { return job.check_seal(); };
  surroundings.start_agent = [&jobs](const std::string& job) { return start_job_agent(jobs, job); };
  surroundings.machine = queue::this_machine();
  auto look_at = std::chrono::steady_clock::now();
  surroundings.pause = [&](std::chrono::milliseconds time) {
    if (const auto now = std::chrono::steady_clock::now(); now >= look_at) {
      look_at = now + kQueueDelivererInterval;
      try_ensure_job_deliverer(jobs);
    }
    const auto signal = signals.wait(time);
    return !signal || (signal->number != SIGTERM && signal->number != SIGINT);
  };
  const Status status = queue::keep_queue(jobs, queue, system_clock(), std::move(surroundings));
  return status.ok() ? kExitFine : report_error(status);
}

}  // namespace

void add_job_keeper(CLI::App& job, CommandAction& action) {
  auto options = std::make_shared<JobKeeperOptions>();
  CLI::App& command = add_command(job, "keeper", "Start the jobs that wait", options, action, act);
  command.group("");  // hidden
  add_jobs_option(command, options->jobs);
}

}  // namespace trainwarden::cli
