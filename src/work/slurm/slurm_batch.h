// What sbatch is given for a job: its options, and the script that becomes the job's agent.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "work/jobs/job_spec.h"
#include "work/slurm/slurm_commands.h"

namespace trainwarden::slurm {

// Of each task, where the user says nothing.
inline constexpr std::uint64_t kDefaultTaskMemoryBytes = std::uint64_t{4} << 30;

struct BatchRequest {
  std::string name;     // of the job
  std::string comment;  // the one by which it is found again
  std::string folder;   // in which the agent works
  std::string output;   // what the agent prints; a path
  std::int64_t nodes = 1;
  std::int64_t tasks_per_node = 1;
  std::int64_t cpus_per_task = 1;
  std::int64_t gpus_per_node = 0;
  std::uint64_t memory_bytes = kDefaultTaskMemoryBytes;  // of each node
  double max_run_seconds = 0;
  double grace_seconds = 120;
  bool requeue = false;  // it may be interrupted, and goes on
  std::int64_t priority = 0;
  jobs::SlurmChoice choice;
  std::vector<std::string> command;                // the agent's; its first word is a path
  std::map<std::string, std::string> environment;  // of the agent, beside what Slurm gives
};

// Before Slurm's own end of a job so much time is left: the signal of --signal may come a minute early, and results
// are stored when the program has ended.
double lead_seconds(const BatchRequest& request);
// What --time is given, in minutes: max_run, and then the lead; Slurm ends a job only when its agent has not.
std::int64_t limit_minutes(const BatchRequest& request);

// The arguments of sbatch, with the path of the script. Memory is always said: a job that does not say how much it
// needs gets all of its node.
std::vector<std::string> sbatch_arguments(const BatchRequest& request, const std::string& script);

// Slurm lets only root and its own user raise the priority of a job, and passes over the wish of others.
bool may_raise_priority(const SlurmCommands& commands);

// For /bin/sh. Its last act is to become the agent: a shell that waited for one would die of the signal that is meant
// for the agent, and Slurm would take the job for ended.
std::string batch_script(const BatchRequest& request);

// Of an environment, "NAME=value" each, what a program needs on another machine to be the same program, and what
// configures us. All else stays: it may be secret, and it belongs to this machine.
std::map<std::string, std::string> environment_to_carry(const std::vector<std::string>& environment);

}  // namespace trainwarden::slurm
