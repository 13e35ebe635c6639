#include "work/slurm/slurm_ranks.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/process/child.h"
#include "core/process/program.h"
#include "work/jobs/confinement.h"

namespace trainwarden::slurm {
namespace {

constexpr std::chrono::seconds kChildLook{1};
constexpr std::chrono::milliseconds kOutputLook{50};
constexpr std::int64_t kMaxGpu = 1 << 16;
constexpr const char* kMasterPort = "MASTER_PORT";

Result<std::int64_t> number_of(const std::map<std::string, std::string>& environment, const char* name) {
  const auto found = environment.find(name);
  if (found == environment.end()) {
    return Status(Code::kFailedPrecondition, fmt::format("{} is not set: srun starts this", name));
  }
  const std::optional<std::int64_t> number = parse_int(found->second);
  if (number && *number >= 0) return *number;
  return Status(Code::kDataLoss, fmt::format("{}: expected a number, found \"{}\"", name, printable(found->second)));
}

// True when it asks for an end, which is handed on as `end`.
bool hand_on(const std::optional<process::ReceivedSignal>& received, process::Child& child, int end) {
  if (!received || received->number == SIGCHLD) return false;
  const bool asks_for_end = received->number != SIGUSR1;
  child.send(asks_for_end ? end : SIGUSR1);
  return asks_for_end;
}

process::ExitRecord wait_for(process::Child& child, process::SignalRelay& signals, int end) {
  while (!child.has_ended()) hand_on(signals.wait(kChildLook), child, end);
  child.kill_group();  // what it has left behind would keep Slurm waiting for the end of the output
  return child.reap();
}

Result<process::Child> start(std::vector<std::string> command, std::map<std::string, std::string> variables,
                             const process::SignalRelay& signals) {
  process::Program program;
  program.command = std::move(command);
  program.environment.set = std::move(variables);
  program.own_group = true;
  program.ends_with_us = true;
  program.signals.blocked = signals.original_mask();
  program.signals.reset = signals.to_reset();
  return process::Child::start(program);
}

Result<ranks::RankProcess> start_bound(const std::vector<std::string>& program, const ranks::RankBinding& binding,
                                       const ranks::RankSurroundings& around) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const ranks::RankPlace place, place_of_task(own_environment()));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto cpus, ranks::cpus_of_rank(binding, place));
  if (cpus) TRAINWARDEN_RETURN_IF_ERROR(ranks::write_rank_cpus(around.job, around.attempt, place.rank, *cpus));
  TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::Confinement bound, jobs::Confinement::to(cpus));
  return ranks::RankProcess::start(program, place, around);
}

}  // namespace

Result<bool> binds_tasks(const SlurmCommands& commands) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string plugins, config_value(commands, "TaskPlugin"));
  for (const std::string& plugin : split_list(plugins, ',')) {
    if (trim(plugin) == "task/affinity" || trim(plugin) == "affinity") return true;
  }
  return false;
}

std::vector<std::string> ranks_command(const std::string& trainwarden, const jobs::Resources& resources,
                                       bool slurm_binds, const std::vector<std::string>& program) {
  std::vector<std::string> words = {trainwarden, "job", "slurm-ranks", "--"};
  const auto add = [&words](const char* option, std::int64_t value) {
    words.push_back(fmt::format("--{}={}", option, value));
  };
  add("nodes", resources.nodes);
  add("ntasks-per-node", resources.tasks_per_node);
  add("cpus-per-task", resources.cpus.value_or(1));  // from 22.05 on srun does not learn it from sbatch
  const bool bound = resources.binding != jobs::Binding::kNone;
  const char* const to = resources.binding == jobs::Binding::kCores ? "cores" : "sockets";
  if (bound) words.push_back(fmt::format("--cpu-bind={}", slurm_binds ? to : "none"));
  if (bound && slurm_binds) words.emplace_back("--distribution=block:block");  // a rank's cores side by side
  words.insert(words.end(), {"--export=ALL", "--kill-on-bad-exit=1", trainwarden, "job", "slurm-task"});
  if (bound) words.push_back(slurm_binds ? "--bound" : fmt::format("--bind={}", to));
  words.emplace_back("--");
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

std::map<std::string, std::string> own_environment() {
  std::map<std::string, std::string> variables;
  for (const std::string& one : process::environment_with({})) {
    const std::size_t equals = one.find('=');
    if (equals != std::string::npos) variables.emplace(one.substr(0, equals), one.substr(equals + 1));
  }
  return variables;
}

Result<ranks::RankPlace> place_of_task(const std::map<std::string, std::string>& environment) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t rank, number_of(environment, "SLURM_PROCID"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t local_rank, number_of(environment, "SLURM_LOCALID"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t tasks, number_of(environment, "SLURM_STEP_NUM_TASKS"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t node, number_of(environment, "SLURM_NODEID"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t nodes, number_of(environment, "SLURM_STEP_NUM_NODES"));
  const auto address = environment.find("SLURM_LAUNCH_NODE_IPADDR");
  if (nodes == 0 || address == environment.end()) {
    return Status(Code::kFailedPrecondition, "SLURM_LAUNCH_NODE_IPADDR is not set: srun starts this");
  }
  const auto own_address = environment.find("MASTER_ADDR");  // of a user who knows the network better
  return ranks::RankPlace{.rank = rank,
                          .local_rank = local_rank,
                          .world_size = tasks,
                          .local_world_size = tasks / nodes,
                          .node = node,
                          .nodes = nodes,
                          .master_address = own_address != environment.end() ? own_address->second : address->second,
                          .master_port = ""};
}

Result<std::vector<int>> gpus_of_step(const std::map<std::string, std::string>& environment) {
  std::vector<int> gpus;
  auto list = environment.find("SLURM_STEP_GPUS");
  if (list == environment.end()) list = environment.find("SLURM_JOB_GPUS");
  if (list == environment.end()) return gpus;
  for (const std::string& gpu : split_list(list->second, ',')) {
    const std::optional<std::int64_t> number = parse_int(gpu);
    if (!number || *number < 0 || *number > kMaxGpu) {
      return Status(Code::kDataLoss,
                    fmt::format("{}: expected numbers of GPUs, found \"{}\"", list->first, printable(list->second)));
    }
    gpus.push_back(static_cast<int>(*number));
  }
  return gpus;
}

Result<process::ExitRecord> run_ranks(const std::vector<std::string>& srun_arguments, process::SignalRelay& signals) {
  std::map<std::string, std::string> variables;
  if (std::getenv(kMasterPort) == nullptr) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const int port, ranks::free_port());
    variables.emplace(kMasterPort, std::to_string(port));
  }
  std::vector<std::string> command = {"srun"};
  command.insert(command.end(), srun_arguments.begin(), srun_arguments.end());
  TRAINWARDEN_ASSIGN_OR_RETURN(process::Child srun, start(std::move(command), std::move(variables), signals));
  return wait_for(srun, signals, SIGUSR2);
}

Result<std::int64_t> node_of_task() {
  TRAINWARDEN_ASSIGN_OR_RETURN(const ranks::RankPlace place, place_of_task(own_environment()));
  return place.node;
}

Result<process::ExitRecord> run_task(const std::vector<std::string>& program, const ranks::RankBinding& binding,
                                     const ranks::RankSurroundings& surroundings) {
  TRAINWARDEN_ASSIGN_OR_RETURN(ranks::RankProcess rank, start_bound(program, binding, surroundings));
  bool asked_to_end = false;
  for (;;) {
    asked_to_end |= hand_on(surroundings.signals.wait(kOutputLook), rank.child(), SIGTERM);
    rank.print_new();
    const process::ExitRecord* const end = rank.try_end();
    if (end == nullptr) continue;
    if (ranks::has_failed(*end) && !asked_to_end) TRAINWARDEN_RETURN_IF_ERROR(rank.record_failure(*end));
    return *end;
  }
}

}  // namespace trainwarden::slurm
