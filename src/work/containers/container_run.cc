#include "work/containers/container_run.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "core/process/foreground_child.h"
#include "work/containers/container_engine.h"
#include "work/containers/container_mounts.h"
#include "work/jobs/attempt_setup.h"
#include "work/workspace/workspace.h"

namespace trainwarden::containers {
namespace {

constexpr std::array<std::string_view, 5> kJobPrefixes = {"SM_", "TRAINWARDEN_", "TRAINING_JOB_", "SLURM_", "SLURMD_"};
constexpr std::string_view kSlurmToken = "SLURM_JWT";  // who has it may act for the user
constexpr std::array<std::string_view, 13> kRankVariables = {"RANK",
                                                             "LOCAL_RANK",
                                                             "WORLD_SIZE",
                                                             "LOCAL_WORLD_SIZE",
                                                             "NODE_RANK",
                                                             "GROUP_RANK",
                                                             "GROUP_WORLD_SIZE",
                                                             "MASTER_ADDR",
                                                             "MASTER_PORT",
                                                             "OMP_NUM_THREADS",
                                                             "NCCL_SOCKET_IFNAME",
                                                             "GLOO_SOCKET_IFNAME",
                                                             "CUDA_VISIBLE_DEVICES"};

std::vector<std::string> handed_on(const jobs::JobOrder& order) {
  std::vector<std::string> names;
  for (const std::string& variable : process::environment_with({})) {
    const std::string name = variable.substr(0, variable.find('='));
    if (is_handed_on(name, order)) names.push_back(name);
  }
  return names;
}

Result<ContainerPlan> plan_of(const jobs::JobRecord& job, const ContainerRank& rank, const jobs::JobSpec& spec) {
  const std::string key = jobs::attempt_key(job.place().absolute().path(), rank.attempt);
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto given, job.read_allocation(rank.attempt));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto setup, job.read_setup(rank.attempt));
  ContainerPlan plan;
  plan.image = spec.image;
  plan.key = key;
  plan.name = fmt::format("trainwarden-{}-{}", key, rank.rank);
  TRAINWARDEN_ASSIGN_OR_RETURN(plan.mounts, mounts_of(job, spec));
  plan.folder = job.order().folder;
  plan.variables = handed_on(job.order());
  if (given && given->gpus) plan.gpus = *given->gpus;
  if (rank.gpus) plan.gpus = *rank.gpus;
  plan.keeps_control_group = rank.keeps_control_group;
  const bool held = setup && !setup->control_group.empty();  // what it starts is held with it
  if (given && !held) plan.memory_bytes = given->memory_bytes;
  plan.shares_network = job.order().ranks > 1 || rank.keeps_control_group;
  plan.isolated_network = spec.isolated_network;
  plan.keeps_user = ::geteuid() != 0;
  plan.program = rank.program;
  return plan;
}

}  // namespace

bool is_handed_on(const std::string& variable, const jobs::JobOrder& order) {
  const auto begins = [&](std::string_view prefix) { return variable.starts_with(prefix); };
  if (order.environment.contains(variable)) return true;
  if (variable == kSlurmToken) return false;
  return std::any_of(kJobPrefixes.begin(), kJobPrefixes.end(), begins) ||
         std::find(kRankVariables.begin(), kRankVariables.end(), variable) != kRankVariables.end();
}

Result<process::ExitRecord> run_in_container(jobs::JobRecord& job, const ContainerRank& rank,
                                             process::SignalRelay& signals) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::JobSpec spec, workspace::spec_of(job));
  TRAINWARDEN_ASSIGN_OR_RETURN(const ContainerEngine engine, find_engine(spec.image, is_in_path));
  TRAINWARDEN_ASSIGN_OR_RETURN(const ContainerPlan plan, plan_of(job, rank, spec));
  jobs::AttemptContainer container{std::string(name(engine)), spec.image, "", plan.memory_bytes != 0};
  container.limits_memory = container.limits_memory && engine == ContainerEngine::kPodman;
  TRAINWARDEN_ASSIGN_OR_RETURN(container.digest, digest_of_image(engine, spec.image));
  TRAINWARDEN_RETURN_IF_ERROR(job.write_container(rank.attempt, container));
  process::Program program;
  program.command = container_words(engine, plan);
  program.environment.removed = {"LD_PRELOAD"};
  program.ends_with_us = true;
  TRAINWARDEN_ASSIGN_OR_RETURN(process::Child child, process::start_in_foreground(program, signals));
  const process::ExitRecord exit = process::wait_and_relay(child, signals);
  if (container.limits_memory && ended_out_of_memory(engine, plan.name)) {
    TRAINWARDEN_RETURN_IF_ERROR(job.note_out_of_memory(rank.attempt));
  }
  return exit;
}

}  // namespace trainwarden::containers
