// Where a job stands, and how it may go on. The words are those of SageMaker's training jobs (TrainingJobStatus,
// JobPhase).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden::jobs {

enum class JobStatus : std::uint8_t { kInProgress, kCompleted, kFailed, kStopping, kStopped };
std::string_view name(JobStatus status);  // "InProgress", ...

enum class JobPhase : std::uint8_t {
  kPending,
  kStarting,
  kTraining,
  kStopping,
  kStopped,
  kMaxRuntimeExceeded,
  kCompleted,
  kFailed,
};
std::string_view name(JobPhase phase);  // "Pending", ...

JobStatus status_of(JobPhase phase);
bool is_terminal(JobPhase phase);
// A job moves on only so. What is terminal stays.
bool may_follow(JobPhase before, JobPhase after);

// One change.
struct Transition {
  std::int64_t seq = 0;  // 1 is its submission
  std::int64_t unix_ns = 0;
  JobPhase status = JobPhase::kPending;
  std::string cause;    // who made it: "submit", "agent", "program", "user", "max_run", "agent lost"
  std::string message;  // for people

  friend bool operator==(const Transition&, const Transition&) = default;
};

std::string encode_transition(const Transition& transition);  // one line of JSON
// kDataLoss when it is none; `what` names the text in the message.
Result<Transition> decode_transition(std::string_view text, std::string_view what);

}  // namespace trainwarden::jobs
