// Jobs as Slurm lists them: what `squeue --json` and `scontrol -o show job` print.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/status.h"
#include "work/slurm/slurm_commands.h"

namespace trainwarden::slurm {

// How a batch script ended, from the status that wait() gives: Slurm tells that number whole.
struct SlurmExit {
  std::optional<int> code;
  std::optional<int> signal;
  friend bool operator==(const SlurmExit&, const SlurmExit&) = default;
};
SlurmExit exit_of_wait_status(std::int64_t status);
SlurmExit parse_exit_pair(std::string_view pair);  // "7:0", "0:9": the code and the signal

// What a job is known by as long as it lives. A task of an array gets a number of its own only when it starts, and
// the last one gets the array's; the array's number and the task's stay.
struct SlurmKey {
  std::int64_t job = 0;  // of the array, for a task of one
  std::optional<std::int64_t> task;
  friend auto operator<=>(const SlurmKey&, const SlurmKey&) = default;
};
std::string to_string(const SlurmKey& key);  // "17", "17_3": as scancel takes it

// The reason of a job that Slurm could not start: it has put it back, and starts it when somebody has released it.
inline constexpr const char* kLaunchFailed = "launch_failed_requeued_held";

struct SlurmJob {
  std::int64_t id = 0;
  std::int64_t array = 0;                  // 0: it belongs to none
  std::optional<std::int64_t> array_task;  // nothing: it stands for those that wait still
  std::string waiting_tasks;               // which these are: "1-2%1"
  std::int64_t user = -1;                  // its number; -1: not told
  std::string name;
  std::string comment;
  std::vector<std::string> states;  // "RUNNING", and flags such as "COMPLETING" behind it
  std::string reason;               // why it waits or has ended, one word of Slurm's; may be empty
  std::string nodes;                // "node[1-2]"; empty: it has none
  std::string script;               // the path that sbatch was given
  SlurmExit exit;
  std::int64_t restarts = 0;  // how often it was requeued
  bool requeues = false;      // it would be
  SlurmKey key() const { return {array != 0 ? array : id, array_task}; }
};

// Both ways of Slurm to write this: up to 22.05 numbers and a text for the state, from 23.02 on objects with "set",
// "infinite" and "number", and a list of states. What is not there or of another kind is left as above; a job without
// a number is left out. kDataLoss when it is no such document, kUnavailable when it says that squeue has failed.
Result<std::vector<SlurmJob>> parse_squeue_json(std::string_view text);
// A line a job; jobcomp/filetxt writes such lines too. One that says a thing twice, as a name with "UserId=" in it
// makes it do, is left out.
std::vector<SlurmJob> parse_scontrol_jobs(std::string_view text);

// All jobs that Slurm still knows, of all users: squeue's filters do not hold for its JSON in 22.05. One question,
// for all jobs together. Errors as SlurmCommands::run().
Result<std::vector<SlurmJob>> list_jobs(const SlurmCommands& commands);

// nullptr: it is not among them.
const SlurmJob* find_job(const std::vector<SlurmJob>& jobs, const SlurmKey& key);

}  // namespace trainwarden::slurm
