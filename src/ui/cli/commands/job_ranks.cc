// `trainwarden job ranks`, `job slurm-ranks` and `job slurm-task`: not for people. The first starts the ranks of a job
// on this machine; the second starts them on all nodes, by srun; the third is one of those.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/hook_variables.h"
#include "core/process/signal_relay.h"
#include "data/foreign/smdebug_profiler_config.h"
#include "measure/sampling/sampler.h"
#include "store/storage/location.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/job_commands.h"
#include "ui/cli/options/job_choice.h"
#include "ui/cli/options/profiler_config_choice.h"
#include "ui/cli/options/sample_choice.h"
#include "ui/cli/options/words_option.h"
#include "ui/cli/running/paced_sampler.h"
#include "ui/cli/running/profiler_config_follower.h"
#include "ui/cli/terminal/output.h"
#include "work/ranks/local_ranks.h"
#include "work/slurm/slurm_ranks.h"
#include "work/workspace/node_variables.h"

namespace trainwarden::cli {
namespace {

struct SlurmRanksOptions {
  std::vector<std::string> words;  // srun's arguments, with the program of a task
};

struct SlurmTaskOptions {
  bool bound = false;  // by Slurm
  std::string bind;
  std::vector<std::string> words;  // the program
};

int report_end(const Result<process::ExitRecord>& exit) {
  return exit.ok() ? exit->shell_code() : report_error(exit.status());
}

void print_lines(std::string_view lines) {
  emit("{}", Painted{lines});
  std::fflush(stdout);
}

Result<process::ExitRecord> run(ranks::LocalRanks plan) {
  process::SignalRelay signals;
  TRAINWARDEN_ASSIGN_OR_RETURN(OwnJob own, own_job());
  TRAINWARDEN_ASSIGN_OR_RETURN(plan.count, own.job.ranks_in(own.attempt));
  return ranks::run_local_ranks(plan, {own.job, own.attempt, signals, print_lines});
}

// The agent's variables are those of the first node.
Status take_variables_of_node(const jobs::JobRecord& job) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t node, slurm::node_of_task());
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto variables, workspace::read_node_variables(job, node));
  for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  return {};
}

// As often as the job's profilerconfig.json says by now, where it has one.
class NodeSampler {
 public:
  NodeSampler(sampling::SamplerPlan plan, const std::optional<std::filesystem::path>& file,
              const foreign::SmdebugProfilerConfig& config)
      : sampler_(std::move(plan), {}) {
    if (!config.disabled) sampler_.start();
    const auto follow = [this](const foreign::SmdebugProfilerConfig& now) { return sampler_.follow(now); };
    if (file) follower_.emplace(*file, ProfilerConfigFollower::kAsksNobody, config, follow);
  }

  void finish(bool completed) {
    follower_.reset();
    sampler_.finish(completed);
  }

 private:
  PacedSampler sampler_;
  std::optional<ProfilerConfigFollower> follower_;  // last: it uses the sampler
};

// Samples the machine of a further node into the run of the job, with all tasks that it has there: they are children of
// one process of Slurm's, as this is. The first task of a node does it; on the first node none does, where `run`
// samples already. What cannot be sampled is no concern of the job's.
std::unique_ptr<NodeSampler> sample_node() {
  const auto place = slurm::place_of_task(slurm::own_environment());
  const char* const run = std::getenv(variable::kRunDir);
  if (!place.ok() || place->node == 0 || place->local_rank != 0 || run == nullptr || *run == '\0') return nullptr;
  const auto file = ProfilerConfigChoice{}.find();
  foreign::SmdebugProfilerConfig config;
  if (file) config = read_profiler_config(*file).value_or({});  // what is wrong with it `run` says on the first node
  SampleChoice sample;
  std::map<std::string, std::string> of_the_hook;  // `run` has told it
  apply_profiler_config(config, /*steps_are_chosen=*/true, sample, of_the_hook);
  auto plan = sample.plan(storage::Location(run));
  if (!plan.ok() || !*plan) return nullptr;
  (*plan)->host.roots = [] { return std::vector<pid_t>{::getppid()}; };
  return std::make_unique<NodeSampler>(**std::move(plan), file, config);
}

Result<process::ExitRecord> run(const SlurmTaskOptions& options) {
  process::SignalRelay signals;
  TRAINWARDEN_ASSIGN_OR_RETURN(OwnJob own, own_job());
  TRAINWARDEN_RETURN_IF_ERROR(take_variables_of_node(own.job));
  ranks::RankBinding binding{options.bound, jobs::Binding::kNone};
  if (options.bind == "cores") binding.own = jobs::Binding::kCores;
  if (options.bind == "sockets") binding.own = jobs::Binding::kSockets;
  const auto sampler = sample_node();
  auto exit = slurm::run_task(options.words, binding, {own.job, own.attempt, signals, print_lines});
  if (sampler) sampler->finish(exit.ok() && exit->shell_code() == 0);
  return exit;
}

int act(const ranks::LocalRanks& plan) {
  return report_end(run(plan));
}

int act(const SlurmRanksOptions& options) {
  process::SignalRelay signals;
  return report_end(slurm::run_ranks(options.words, signals));
}

int act(const SlurmTaskOptions& options) {
  return report_end(run(options));
}

}  // namespace

void add_job_ranks(CLI::App& job, CommandAction& action) {
  auto plan = std::make_shared<ranks::LocalRanks>();
  CLI::App& command = add_command(job, "ranks", "Start the ranks of a job on this machine", plan, action, act);
  command.group("");  // hidden
  command.add_option("--count", plan->count, "How many")->required()->check(CLI::Range(1, 1024));
  command.add_option("--grace", plan->grace_seconds, "From SIGTERM to SIGKILL when one has failed, in seconds");
  add_words(command, "PROGRAM", plan->program, "The program and its arguments")->required()->type_name("");
}

void add_job_slurm_ranks(CLI::App& job, CommandAction& action) {
  auto ranks = std::make_shared<SlurmRanksOptions>();
  CLI::App& all = add_command(job, "slurm-ranks", "Start the tasks of a job on all nodes", ranks, action, act);
  all.group("");  // hidden
  add_words(all, "WORDS", ranks->words, "Arguments of srun")->required()->type_name("");
  auto task = std::make_shared<SlurmTaskOptions>();
  CLI::App& one = add_command(job, "slurm-task", "Start one task of a job", task, action, act);
  one.group("");  // hidden
  one.add_flag("--bound", task->bound, "Slurm has bound it to its processors");
  one.add_option("--bind", task->bind, "To what it binds itself")->check(CLI::IsMember({"cores", "sockets"}));
  add_words(one, "PROGRAM", task->words, "The program and its arguments")->required()->type_name("");
}

}  // namespace trainwarden::cli
