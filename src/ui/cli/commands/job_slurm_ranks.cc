// `trainwarden job slurm-ranks` and `job slurm-task`: not for people. The one starts the tasks of a job on all nodes,
// by srun; the other is a task.
#include "core/process/signal_relay.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/job_commands.h"
#include "work/slurm/slurm_ranks.h"

namespace trainwarden::cli {
namespace {

struct SlurmRanksOptions {
  std::vector<std::string> words;  // srun's arguments, with the program of a task
};

struct SlurmTaskOptions {
  std::vector<std::string> words;  // the program
};

int report_end(const Result<process::ExitRecord>& exit) {
  return exit.ok() ? exit->shell_code() : report_error(exit.status());
}

int act(const SlurmRanksOptions& options) {
  process::SignalRelay signals;
  return report_end(slurm::run_ranks(options.words, signals));
}

int act(const SlurmTaskOptions& options) {
  process::SignalRelay signals;
  return report_end(slurm::run_task(options.words, signals));
}

}  // namespace

void add_job_slurm_ranks(CLI::App& job, CommandAction& action) {
  auto ranks = std::make_shared<SlurmRanksOptions>();
  CLI::App& all = add_command(job, "slurm-ranks", "Start the tasks of a job on all nodes", ranks, action, act);
  all.group("");  // hidden
  all.add_option("WORDS", ranks->words, "Arguments of srun")->required()->type_name("");
  auto task = std::make_shared<SlurmTaskOptions>();
  CLI::App& one = add_command(job, "slurm-task", "Start one task of a job", task, action, act);
  one.group("");  // hidden
  one.add_option("PROGRAM", task->words, "The program and its arguments")->required()->type_name("");
}

}  // namespace trainwarden::cli
