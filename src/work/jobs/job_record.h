// JobRecord: a job as it lies in the folder of jobs, from its submission on.
//
//   NAME/job.json            what is to be run, and when it was submitted: the first transition; written once
//   NAME/state/000002.json   a further transition each, written once: whoever creates the next number has made it
//   NAME/launch.json         how the program ended, as `trainwarden run` saw it
//   NAME/exit.json           the same, as the job has it; written once, before the transition that says so
//   NAME/output.log          what the program printed; agent.log: what its agent did
//   NAME/agent.lock, .lease  held by the agent as long as it lives (store/storage/lease.h)
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "store/storage/lease.h"
#include "store/storage/location.h"
#include "trainwarden/status.h"
#include "work/jobs/job_state.h"

namespace trainwarden::jobs {

inline constexpr const char* kLaunchFile = "launch.json";

// What is to be run. The command is that of `trainwarden run`, with the program behind it.
struct JobOrder {
  std::string name;
  std::int64_t submitted_unix_ns = 0;
  std::vector<std::string> command;
  std::map<std::string, std::string> environment;  // beside that of who submits
  std::string folder;                              // in which the program works
  std::string run;                                 // the path of its run
  double max_run_seconds = 0;
  double grace_seconds = 120;  // from SIGTERM to SIGKILL
  std::string spec;            // the text of the user's file
  friend bool operator==(const JobOrder&, const JobOrder&) = default;
};

struct JobExit {
  std::optional<int> code;    // of the program; nothing: a signal ended it, or nobody knows
  std::optional<int> signal;  // that ended it
  std::int64_t wall_ns = 0;
  bool stopped_by_rule = false;
  bool killed = false;  // it did not end by itself when it was to stop
  friend bool operator==(const JobExit&, const JobExit&) = default;
};

std::string encode_exit(const JobExit& exit);  // one line of JSON
// kDataLoss when it is none; `what` names the text in the message.
Result<JobExit> decode_exit(std::string_view text, std::string_view what);

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
  const storage::Location& place() const { return place_; }
  std::filesystem::path output() const;     // of the program
  std::filesystem::path agent_log() const;  // of the agent

  // From its submission to now, at least one. kDataLoss when one is damaged.
  Result<std::vector<Transition>> transitions() const;
  Result<Transition> current() const;

  // Adds the one that follows `from`. kAborted when another was faster: look at current() again;
  // kFailedPrecondition when a job cannot move so.
  Result<Transition> advance(const Transition& from, JobPhase to, const std::string& cause, const std::string& message,
                             const Clock& clock);
  // Asks it to stop: as advance() to Stopping, again and again until it is Stopping, or has ended.
  Result<Transition> request_stop(const std::string& cause, const std::string& message, const Clock& clock);

  // kAlreadyExists when another agent holds it.
  Result<std::unique_ptr<storage::Lease>> take_agent_lease(const Clock& clock);
  // A job that has not ended and whose agent is gone ends as its exit record says, or has failed when there is none;
  // whoever sees this first says so, and kills what is left of its processes on this machine. Returns where it stands
  // after that.
  Result<Transition> settle(const Clock& clock);
  // Ends it as its program has ended: Completed, Failed, or, when it was to stop, Stopped or MaxRuntimeExceeded. Fine
  // when somebody has ended it already.
  Result<Transition> finish(const JobExit& exit, const Clock& clock);

  Status write_exit(const JobExit& exit);  // kAlreadyExists when it is there
  Result<std::optional<JobExit>> read_exit() const;
  // The same of what `trainwarden run --exit-record` wrote, which knows the program itself.
  Result<std::optional<JobExit>> read_launch() const;

 private:
  Result<std::optional<JobExit>> read_optional_exit(const char* file) const;
  JobRecord(storage::Location place, JobOrder order) : place_(std::move(place)), order_(std::move(order)) {}

  storage::Location place_;
  JobOrder order_;
};

}  // namespace trainwarden::jobs
