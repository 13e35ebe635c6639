#include "work/slurm/slurm_ranks.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/file_descriptor.h"
#include "core/base/text.h"
#include "core/process/child.h"
#include "core/process/program.h"

namespace trainwarden::slurm {
namespace {

constexpr std::chrono::seconds kChildLook{1};
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

// Somebody may take it before rank 0 does, which then says so; a number that is made up is more often taken.
Result<int> free_port() {
  const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t bytes = sizeof(address);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (!socket.is_open() || ::bind(socket.get(), any, bytes) != 0 || ::getsockname(socket.get(), any, &bytes) != 0) {
    return Status(Code::kUnavailable, "no port of this node is free for MASTER_PORT");
  }
  return ntohs(address.sin_port);
}

std::map<std::string, std::string> own_environment() {
  std::map<std::string, std::string> variables;
  for (const std::string& one : process::environment_with({})) {
    const std::size_t equals = one.find('=');
    if (equals != std::string::npos) variables.emplace(one.substr(0, equals), one.substr(equals + 1));
  }
  return variables;
}

// Signals are handed on, those that ask for an end as `end`.
process::ExitRecord wait_for(process::Child& child, process::SignalRelay& signals, int end) {
  while (!child.has_ended()) {
    const std::optional<process::ReceivedSignal> received = signals.wait(kChildLook);
    if (!received || received->number == SIGCHLD) continue;
    child.send(received->number == SIGUSR1 ? SIGUSR1 : end);
  }
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

}  // namespace

std::vector<std::string> ranks_command(const std::string& trainwarden, const jobs::Resources& resources,
                                       const std::vector<std::string>& program) {
  std::vector<std::string> words = {trainwarden, "job", "slurm-ranks", "--"};
  const auto add = [&words](const char* option, std::int64_t value) {
    words.push_back(fmt::format("--{}={}", option, value));
  };
  add("nodes", resources.nodes);
  add("ntasks-per-node", resources.tasks_per_node);
  add("cpus-per-task", resources.cpus.value_or(1));  // from 22.05 on srun does not learn it from sbatch
  words.insert(words.end(), {"--export=ALL", "--kill-on-bad-exit=1", trainwarden, "job", "slurm-task", "--"});
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

Result<std::map<std::string, std::string>> torchrun_variables(const std::map<std::string, std::string>& environment) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t rank, number_of(environment, "SLURM_PROCID"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t local_rank, number_of(environment, "SLURM_LOCALID"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t tasks, number_of(environment, "SLURM_STEP_NUM_TASKS"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t node, number_of(environment, "SLURM_NODEID"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t nodes, number_of(environment, "SLURM_STEP_NUM_NODES"));
  const auto address = environment.find("SLURM_LAUNCH_NODE_IPADDR");
  if (nodes == 0 || address == environment.end()) {
    return Status(Code::kFailedPrecondition, "SLURM_LAUNCH_NODE_IPADDR is not set: srun starts this");
  }
  return std::map<std::string, std::string>{
      {"RANK", std::to_string(rank)},        {"LOCAL_RANK", std::to_string(local_rank)},
      {"WORLD_SIZE", std::to_string(tasks)}, {"LOCAL_WORLD_SIZE", std::to_string(tasks / nodes)},
      {"GROUP_RANK", std::to_string(node)},  {"GROUP_WORLD_SIZE", std::to_string(nodes)},
      {"MASTER_ADDR", address->second}};
}

Result<process::ExitRecord> run_ranks(const std::vector<std::string>& srun_arguments, process::SignalRelay& signals) {
  std::map<std::string, std::string> variables;
  if (std::getenv(kMasterPort) == nullptr) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const int port, free_port());
    variables.emplace(kMasterPort, std::to_string(port));
  }
  std::vector<std::string> command = {"srun"};
  command.insert(command.end(), srun_arguments.begin(), srun_arguments.end());
  TRAINWARDEN_ASSIGN_OR_RETURN(process::Child srun, start(std::move(command), std::move(variables), signals));
  return wait_for(srun, signals, SIGUSR2);
}

Result<process::ExitRecord> run_task(const std::vector<std::string>& program, process::SignalRelay& signals) {
  const std::map<std::string, std::string> environment = own_environment();
  TRAINWARDEN_ASSIGN_OR_RETURN(auto variables, torchrun_variables(environment));
  for (const auto& [name, value] : environment) {
    if (name == "MASTER_ADDR") variables[name] = value;  // of a user who knows the network better
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(process::Child child, start(program, std::move(variables), signals));
  return wait_for(child, signals, SIGTERM);
}

}  // namespace trainwarden::slurm
