// `trainwarden job deliverer`: not for people. It delivers what happens to jobs to who has subscribed to it.
#include <unistd.h>

#include "core/base/clock.h"
#include "core/process/signal_relay.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/job_commands.h"
#include "ui/cli/options/action_choice.h"
#include "ui/cli/options/job_choice.h"
#include "work/job_events/deliverer.h"

namespace trainwarden::cli {
namespace {

struct JobDelivererOptions {
  std::string jobs;
};

int act(const JobDelivererOptions& options) {
  ::setsid();                    // the terminal of who submitted may be closed
  process::SignalRelay signals;  // before the courier's threads
  job_events::DelivererSurroundings surroundings;
  surroundings.kinds = all_action_kinds();
  surroundings.pause = [&signals](std::chrono::milliseconds time) { return !signals.wait_for_end(time); };
  const Status status = job_events::deliver_job_events(jobs_folder(options.jobs), system_clock(), surroundings);
  return status.ok() ? kExitFine : report_error(status);
}

}  // namespace

void add_job_deliverer(CLI::App& job, CommandAction& action) {
  auto options = std::make_shared<JobDelivererOptions>();
  CLI::App& command =
      add_command(job, "deliverer", "Deliver what happens to jobs to standing subscriptions", options, action, act);
  command.group("");  // hidden
  add_jobs_option(command, options->jobs);
}

}  // namespace trainwarden::cli
