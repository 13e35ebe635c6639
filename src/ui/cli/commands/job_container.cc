// `trainwarden job container`: not for people. In place of a job's program it starts it in a container.
#include <cstdlib>

#include <fmt/format.h>

#include "core/base/bytes.h"
#include "core/base/text.h"
#include "core/process/signal_relay.h"
#include "store/storage/location.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/job_commands.h"
#include "ui/cli/options/job_choice.h"
#include "ui/cli/options/words_option.h"
#include "ui/cli/running/job_keeper.h"
#include "work/containers/container_run.h"
#include "work/slurm/slurm_ranks.h"
#include "work/workspace/layout.h"
#include "work/workspace/workspace.h"

namespace trainwarden::cli {
namespace {

struct JobContainerOptions {
  std::vector<std::string> program;
};

std::string environment_text(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

// The reason of the job's failure, as its program would leave it (workspace/layout.h).
void leave_failure(const jobs::JobRecord& job, const Status& status) {
  const auto spec = workspace::spec_of(job);
  if (!spec.ok()) return;
  const auto layout = workspace::layout_of(job, *spec);
  if (!layout.ok()) return;
  const storage::Location output(layout->output);
  const Status left = output.storage().replace("failure", as_bytes(status.message()));
  if (!left.ok()) static_cast<void>(report_error(left));
}

// On Slurm nobody but Slurm says which GPUs it has, and ends what its tasks leave.
Status take_from_slurm(const jobs::JobRecord& job, containers::ContainerRank& rank) {
  TRAINWARDEN_ASSIGN_OR_RETURN(rank.gpus, slurm::gpus_of_step(slurm::own_environment()));
  rank.keeps_control_group = true;
  if (!rank.gpus->empty() || job.order().needs.gpus.value_or(0) == 0) return {};
  return {Code::kFailedPrecondition,
          "image: Slurm does not say which GPUs of this node the job has (SLURM_JOB_GPUS), so that no container can be "
          "given them; the cluster's gres.conf names none"};
}

Result<process::ExitRecord> run(OwnJob& own, const JobContainerOptions& options, process::SignalRelay& signals) {
  containers::ContainerRank rank;
  rank.attempt = own.attempt;
  rank.rank = parse_int(environment_text("RANK")).value_or(0);
  rank.program = options.program;
  if (own.job.order().backend == jobs::Backend::kSlurm) TRAINWARDEN_RETURN_IF_ERROR(take_from_slurm(own.job, rank));
  return containers::run_in_container(own.job, rank, signals);
}

// With the node's name, which tells an administrator where to look.
Status on_node(const Status& status) {
  const std::string node = environment_text("SLURMD_NODENAME");
  return node.empty() ? status : Status(status.code(), fmt::format("{} (on {})", status.message(), printable(node)));
}

int act(const JobContainerOptions& options) {
  process::SignalRelay signals;
  Result<OwnJob> own = own_job();
  if (!own.ok()) return report_error(own.status());
  const auto exit = run(*own, options, signals);
  if (exit.ok()) return exit->shell_code();
  const Status failure = on_node(exit.status());
  leave_failure(own->job, failure);
  return report_error(failure);
}

}  // namespace

std::vector<std::string> words_in_container(const std::vector<std::string>& program) {
  std::vector<std::string> words = {this_program().string(), "job", "container", "--"};
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

void add_job_container(CLI::App& job, CommandAction& action) {
  auto options = std::make_shared<JobContainerOptions>();
  CLI::App& command = add_command(job, "container", "Start a job's program in its image", options, action, act);
  command.group("");  // hidden
  add_words(command, "PROGRAM", options->program, "The program and its arguments")->required()->type_name("");
}

}  // namespace trainwarden::cli
