// `trainwarden job slurm-agent`: not for people. A batch script of Slurm ends by becoming this.
#include <chrono>

#include "core/base/clock.h"
#include "core/process/signal_relay.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/job_commands.h"
#include "ui/cli/options/job_choice.h"
#include "ui/cli/running/job_experiment.h"
#include "ui/cli/running/job_keeper.h"
#include "work/slurm/slurm_agent.h"
#include "work/workspace/workspace.h"

namespace trainwarden::cli {
namespace {

constexpr std::chrono::seconds kSlurmDelivererInterval{2};

struct SlurmAgentOptions {
  JobChoice job;
};

Status run(const SlurmAgentOptions& options, process::SignalRelay& signals) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const slurm::SlurmSelf self, slurm::slurm_self());
  TRAINWARDEN_ASSIGN_OR_RETURN(const slurm::SlurmCommands commands, slurm::SlurmCommands::find());
  TRAINWARDEN_ASSIGN_OR_RETURN(jobs::JobRecord job, options.job.open());
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::string> nodes, slurm::nodes_of_job(commands));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::unique_ptr<jobs::AttemptStages> stages,
                               workspace::create_workspace(job, nodes));
  jobs::AgentSurroundings surroundings;
  surroundings.signals = &signals;
  surroundings.stages = stages.get();
  // The process that delivers events was started where the job was submitted; should it be gone there, it goes on here.
  auto look_at = std::chrono::steady_clock::now();
  surroundings.look = [&] {
    if (std::chrono::steady_clock::now() < look_at) return;
    look_at = std::chrono::steady_clock::now() + kSlurmDelivererInterval;
    try_ensure_job_is_told_of(job);
  };
  TRAINWARDEN_RETURN_IF_ERROR(slurm::run_slurm_agent(job, self, commands, system_clock(), std::move(surroundings)));
  return record_job_end(job);
}

int act(const SlurmAgentOptions& options) {
  process::SignalRelay signals;
  const Status status = run(options, signals);
  return status.ok() ? kExitFine : report_error(status);
}

}  // namespace

void add_job_slurm_agent(CLI::App& job, CommandAction& action) {
  auto options = std::make_shared<SlurmAgentOptions>();
  CLI::App& command = add_command(job, "slurm-agent", "Start a job on a node of Slurm", options, action, act);
  command.group("");  // hidden
  add_job_choice(command, options->job);
}

}  // namespace trainwarden::cli
