// JobRecord: a job as it lies in the folder of jobs, from its submission on.
//
//   NAME/job.json                 what is to be run, and when it was submitted: the first transition; written once
//   NAME/state/000002.json        a further transition each, written once: whoever creates the next number has made it
//   NAME/attempts/1/allocation.json  what it may use of the machine, as the queue gave it
//   NAME/attempts/1/setup.json    what holds it on its machine, and what is enforced
//   NAME/attempts/1/container.json  the engine and the image of its container, if it has one
//   NAME/attempts/1/out-of-memory   there when that engine says so
//   NAME/attempts/1/launch.json   how the program ended, as `trainwarden run` saw it
//   NAME/attempts/1/first-failure.json  of several ranks the one that failed first, and how
//   NAME/attempts/1/exit.json     the same, as the job has it; written once, before the transition that says so
//   NAME/output.log               what the program printed in all attempts; agent.log: what its agents did
//   NAME/ranks/0.log               what a rank of several printed, in all attempts; output.log has the lines of all
//   NAME/rules/                   what became of the rules that judge its run (job_rules.h)
//   NAME/agent.lock, .lease       held by the agent as long as it lives (store/storage/lease.h)
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "store/storage/lease.h"
#include "store/storage/location.h"
#include "trainwarden/status.h"
#include "work/jobs/allocation.h"
#include "work/jobs/attempt_container.h"
#include "work/jobs/attempt_setup.h"
#include "work/jobs/job_exit.h"
#include "work/jobs/job_order.h"
#include "work/jobs/job_state.h"

namespace trainwarden::jobs {

inline constexpr const char* kOrderFile = "job.json";
inline constexpr const char* kStateFolder = "state";
inline constexpr const char* kOutputFile = "output.log";
inline constexpr const char* kAgentLogFile = "agent.log";

// Cheap to copy. Const methods may be called from many threads and processes at once, and so may advance().
class JobRecord {
 public:
  // Makes its folder in `jobs`; from then on it is Pending. kAlreadyExists when the name is taken,
  // kInvalidArgument when it is no job's.
  static Result<JobRecord> create(const storage::Location& jobs, const JobOrder& order);
  // kNotFound when there is no such job, with the nearest name; kDataLoss when job.json is damaged.
  static Result<JobRecord> open(const storage::Location& jobs, const std::string& name);
  // The names of those that are there; none when `jobs` is not.
  static Result<std::vector<std::string>> list(const storage::Location& jobs);

  const JobOrder& order() const { return order_; }
  // kPermissionDenied when this user has not submitted it into this folder: nothing of it may be started by a look.
  Status check_seal() const;
  const storage::Location& place() const { return place_; }
  std::filesystem::path output() const;                                     // of the program
  std::filesystem::path agent_log() const;                                  // of its agents
  std::filesystem::path rank_log(std::int64_t rank) const;                  // of a rank, where there are several
  Result<std::filesystem::path> prepare_rank_log(std::int64_t rank) const;  // makes its folder

  // From its submission to now, at least one. kDataLoss when one is damaged; kNotFound when the job was removed since
  // this record was opened, also when another one has its name now.
  Result<std::vector<Transition>> transitions() const;
  Result<Transition> current() const;
  Result<Transition> newest_after(const Transition& known) const;  // the same for who knows an earlier one

  // Adds the one that follows `from`. kAborted when another was faster: look at current() again;
  // kFailedPrecondition when a job cannot move so.
  Result<Transition> advance(const Transition& from, JobPhase to, const std::string& cause, const std::string& message,
                             const Clock& clock);
  // Asks it to stop: as advance() to Stopping, again and again until it is Stopping, or has ended.
  Result<Transition> request_stop(const std::string& cause, const std::string& message, const Clock& clock);
  // From the next attempt on its program has so many processes. kInvalidArgument for more than it was submitted with;
  // kFailedPrecondition when it has not ended.
  Status set_ranks(std::int64_t ranks);
  Result<std::int64_t> ranks_in(int attempt) const;
  // It is to go on, as another attempt. kFailedPrecondition when it is Completed, or has not ended.
  Result<Transition> resume(const std::string& message, const Clock& clock);

  // kAlreadyExists when another agent holds it.
  Result<std::unique_ptr<storage::Lease>> take_agent_lease(const Clock& clock);
  bool has_agent(const Clock& clock) const { return has_agent(place_, clock); }
  static bool has_agent(const storage::Location& place, const Clock& clock);  // also of a job that cannot be read
  // Of its agent; nothing when it has none.
  std::optional<storage::LeaseSign> agent_sign(const Clock& clock) const;
  // Asks it to stop where that cannot be written, as on a full disk: SIGINT to its agent, which writes it when there is
  // room again. kNotFound when no process of this machine is known to be its agent.
  Status signal_agent_to_stop() const;
  // What becomes of a job whose agent is gone: it ends as its exit record says, is interrupted when it may go on, or
  // has failed; one that was to stop before it began is Stopped. Whoever sees this first says so, and kills what is
  // left of its processes on this machine. Returns where it stands after that.
  Result<Transition> settle(const Clock& clock);
  // Moves it on as its program has ended: Completed, Failed, Interrupted, or, when it was to stop, Stopped or what its
  // limit says. Fine when somebody has ended it already.
  Result<Transition> finish(const JobExit& exit, const Clock& clock);

  // Attempts count from 1. `run --exit-record` writes the launch file, the agent the exit.
  Result<std::filesystem::path> prepare_attempt(int attempt);  // makes its folder; returns the path of its launch file
  Status write_allocation(int attempt, const Allocation& allocation);
  Result<std::optional<Allocation>> read_allocation(int attempt) const;
  Status write_setup(int attempt, const AttemptSetup& setup);
  Result<std::optional<AttemptSetup>> read_setup(int attempt) const;
  Status write_container(int attempt, const AttemptContainer& container);  // fine when another rank has written it
  Result<std::optional<AttemptContainer>> read_container(int attempt) const;
  Status note_out_of_memory(int attempt);
  bool was_out_of_memory(int attempt) const;
  // Kills what an attempt has left on this machine: processes, containers, its control group.
  void kill_left_of(int attempt) const;
  Status write_exit(int attempt, const JobExit& exit);  // kAlreadyExists when it is there
  Result<std::optional<JobExit>> read_exit(int attempt) const;
  // As it is there; of several ranks as the one ended that failed first.
  Result<std::optional<JobExit>> read_launch(int attempt) const;
  // By whoever sees a rank fail that nobody asked to end. kAlreadyExists when another one was first.
  Status write_first_failure(int attempt, const JobExit& exit);

 private:
  // What `decode` makes of a file; nothing when it is not there.
  template <class Content>
  Result<std::optional<Content>> read_optional(const std::string& file,
                                               Result<Content> (*decode)(std::string_view, std::string_view)) const;
  Result<std::optional<Transition>> read_transition(std::int64_t seq) const;
  Status check_is_there() const;
  Result<Transition> give_up(const std::vector<Transition>& all, const Clock& clock);
  JobRecord(storage::Location place, JobOrder order, std::uint64_t identity)
      : place_(std::move(place)), order_(std::move(order)), identity_(identity) {}

  storage::Location place_;
  JobOrder order_;
  std::uint64_t identity_;  // of its job.json (FileInfo); 0: not known
};

}  // namespace trainwarden::jobs
