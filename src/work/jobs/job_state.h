// Where a job stands, and how it may go on. The words are those of SageMaker's training jobs (TrainingJobStatus,
// SecondaryStatus).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/status.h"

namespace trainwarden::jobs {

enum class JobStatus : std::uint8_t { kInProgress, kCompleted, kFailed, kStopping, kStopped };
std::string_view name(JobStatus status);  // "InProgress", ...

enum class JobPhase : std::uint8_t {
  kPending,  // waits for its turn
  kStarting,
  kDownloading,  // its channels and checkpoints are fetched
  kTraining,
  kInterrupted,  // by nobody's wish, and it is to go on
  kRestarting,   // waits for its turn to go on: the next attempt
  kUploading,    // the program has ended, its results are stored
  kStopping,
  kStopped,
  kMaxRuntimeExceeded,
  kMaxWaitTimeExceeded,
  kCompleted,
  kFailed,
};
std::string_view name(JobPhase phase);  // "Pending", ...
// The other way round. kDataLoss when there is no such phase; `what` names the text in the message.
Result<JobPhase> phase_named(std::string_view name, std::string_view what);

// The words for all phases and statuses, each once.
std::vector<std::string> status_words();

JobStatus status_of(JobPhase phase);
bool is_terminal(JobPhase phase);
// It waits for its turn: no agent is there, and none is missed.
bool is_queued(JobPhase phase);
// A job moves on only so. What is terminal stays, but one that is not Completed may be resumed.
bool may_follow(JobPhase before, JobPhase after);

// Causes that decide what may follow; others are for people alone.
inline constexpr const char* kAgentLost = "agent lost";
inline constexpr const char* kUploadLost = "upload lost";
inline constexpr const char* kRankLost = "rank lost";

// One change.
struct Transition {
  std::int64_t seq = 0;  // 1 is its submission
  std::int64_t unix_ns = 0;
  JobPhase status = JobPhase::kPending;
  std::string cause;    // who made it, or why: "submit", "agent", "program", "user", "max_run", "agent lost"
  std::string message;  // for people

  friend bool operator==(const Transition&, const Transition&) = default;
};

// What follows is computed from all transitions, in their order.

// 1, and one more for each Restarting.
int attempt_of(const std::vector<Transition>& transitions);
// How long its program has run in all attempts up to `unix_ns`: from Training on, until it ended or was interrupted.
std::int64_t run_ns_of(const std::vector<Transition>& transitions, std::int64_t unix_ns);

std::string encode_transition(const Transition& transition);  // one line of JSON
// kDataLoss when it is none; `what` names the text in the message.
Result<Transition> decode_transition(std::string_view text, std::string_view what);

}  // namespace trainwarden::jobs
