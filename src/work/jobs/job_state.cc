#include "work/jobs/job_state.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "core/base/text.h"
#include "data/format/json.h"

namespace trainwarden::jobs {
namespace {

struct Named {
  JobPhase status;
  std::string_view name;
  JobStatus primary;
};

constexpr std::array<Named, 13> kPhases = {
    {{JobPhase::kPending, "Pending", JobStatus::kInProgress},
     {JobPhase::kStarting, "Starting", JobStatus::kInProgress},
     {JobPhase::kDownloading, "Downloading", JobStatus::kInProgress},
     {JobPhase::kTraining, "Training", JobStatus::kInProgress},
     {JobPhase::kInterrupted, "Interrupted", JobStatus::kInProgress},
     {JobPhase::kRestarting, "Restarting", JobStatus::kInProgress},
     {JobPhase::kUploading, "Uploading", JobStatus::kInProgress},
     {JobPhase::kStopping, "Stopping", JobStatus::kStopping},
     {JobPhase::kStopped, "Stopped", JobStatus::kStopped},
     {JobPhase::kMaxRuntimeExceeded, "MaxRuntimeExceeded", JobStatus::kStopped},
     {JobPhase::kMaxWaitTimeExceeded, "MaxWaitTimeExceeded", JobStatus::kStopped},
     {JobPhase::kCompleted, "Completed", JobStatus::kCompleted},
     {JobPhase::kFailed, "Failed", JobStatus::kFailed}}};

const Named& named(JobPhase status) {
  return kPhases[static_cast<std::size_t>(status)];
}

}  // namespace

std::string_view name(JobStatus status) {
  constexpr std::array<std::string_view, 5> kNames = {"InProgress", "Completed", "Failed", "Stopping", "Stopped"};
  return kNames[static_cast<std::size_t>(status)];
}

std::string_view name(JobPhase status) {
  return named(status).name;
}

Result<JobPhase> phase_named(std::string_view name, std::string_view what) {
  const auto* const known =
      std::find_if(kPhases.begin(), kPhases.end(), [&](const Named& one) { return one.name == name; });
  if (known != kPhases.end()) return known->status;
  return Status(Code::kDataLoss, fmt::format("{}: unknown status \"{}\"", what, printable(name)));
}

std::vector<std::string> status_words() {
  std::vector<std::string> words = {std::string(name(JobStatus::kInProgress))};  // the others are phases too
  for (const Named& one : kPhases) words.emplace_back(one.name);
  return words;
}

JobStatus status_of(JobPhase status) {
  return named(status).primary;
}

bool is_terminal(JobPhase status) {
  const JobStatus primary = status_of(status);
  return primary != JobStatus::kInProgress && primary != JobStatus::kStopping;
}

bool is_queued(JobPhase phase) {
  return phase == JobPhase::kPending || phase == JobPhase::kInterrupted || phase == JobPhase::kRestarting;
}

bool may_follow(JobPhase before, JobPhase after) {
  using P = JobPhase;
  if (before == after) return false;
  if (after == P::kRestarting) return before == P::kInterrupted || (is_terminal(before) && before != P::kCompleted);
  if (is_terminal(before)) return false;
  switch (after) {
    case P::kPending:
    case P::kRestarting: return false;
    case P::kStarting: return before == P::kPending || before == P::kRestarting;
    case P::kDownloading: return before == P::kStarting;
    case P::kTraining: return before == P::kStarting || before == P::kDownloading;
    case P::kUploading: return before == P::kTraining || before == P::kStarting;
    case P::kInterrupted: return !is_queued(before) && before != P::kStopping;
    case P::kStopped:
    case P::kMaxRuntimeExceeded: return before == P::kStopping;
    case P::kMaxWaitTimeExceeded: return before == P::kStopping || is_queued(before);
    case P::kCompleted: return before == P::kTraining || before == P::kUploading;
    case P::kStopping:
    case P::kFailed: return true;
  }
  return false;
}

int attempt_of(const std::vector<Transition>& transitions) {
  return 1 + static_cast<int>(std::count_if(transitions.begin(), transitions.end(),
                                            [](const Transition& one) { return one.status == JobPhase::kRestarting; }));
}

std::int64_t run_ns_of(const std::vector<Transition>& transitions, std::int64_t unix_ns) {
  std::int64_t sum = 0;
  std::optional<std::int64_t> since;
  for (const Transition& one : transitions) {
    if (one.status == JobPhase::kTraining) since = one.unix_ns;
    if (one.status == JobPhase::kTraining || one.status == JobPhase::kStopping || !since) continue;
    sum += one.unix_ns - *since;
    since.reset();
  }
  return since ? sum + std::max<std::int64_t>(unix_ns - *since, 0) : sum;
}

std::string encode_transition(const Transition& transition) {
  return format::dump_json({{"seq", transition.seq},
                            {"time", transition.unix_ns},
                            {"status", name(transition.status)},
                            {"cause", transition.cause},
                            {"message", transition.message}}) +
         "\n";
}

Result<Transition> decode_transition(std::string_view text, std::string_view what) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const format::Json json, format::parse_json_object(text, what));
  Transition transition;
  TRAINWARDEN_ASSIGN_OR_RETURN(transition.seq, format::int_field(json, "seq", 1));
  TRAINWARDEN_ASSIGN_OR_RETURN(transition.unix_ns, format::int_field(json, "time", 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(transition.cause, format::string_field(json, "cause"));
  TRAINWARDEN_ASSIGN_OR_RETURN(transition.message, format::string_field(json, "message"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string status, format::string_field(json, "status"));
  TRAINWARDEN_ASSIGN_OR_RETURN(transition.status, phase_named(status, what));
  return transition;
}

}  // namespace trainwarden::jobs
