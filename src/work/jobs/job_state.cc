#include "work/jobs/job_state.h"

#include <algorithm>
#include <array>

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

constexpr std::array<Named, 8> kStatuses = {{{JobPhase::kPending, "Pending", JobStatus::kInProgress},
                                             {JobPhase::kStarting, "Starting", JobStatus::kInProgress},
                                             {JobPhase::kTraining, "Training", JobStatus::kInProgress},
                                             {JobPhase::kStopping, "Stopping", JobStatus::kStopping},
                                             {JobPhase::kStopped, "Stopped", JobStatus::kStopped},
                                             {JobPhase::kMaxRuntimeExceeded, "MaxRuntimeExceeded", JobStatus::kStopped},
                                             {JobPhase::kCompleted, "Completed", JobStatus::kCompleted},
                                             {JobPhase::kFailed, "Failed", JobStatus::kFailed}}};

const Named& named(JobPhase status) {
  return kStatuses[static_cast<std::size_t>(status)];
}

}  // namespace

std::string_view name(JobStatus status) {
  constexpr std::array<std::string_view, 5> kNames = {"InProgress", "Completed", "Failed", "Stopping", "Stopped"};
  return kNames[static_cast<std::size_t>(status)];
}

std::string_view name(JobPhase status) {
  return named(status).name;
}

JobStatus status_of(JobPhase status) {
  return named(status).primary;
}

bool is_terminal(JobPhase status) {
  const JobStatus primary = status_of(status);
  return primary != JobStatus::kInProgress && primary != JobStatus::kStopping;
}

bool may_follow(JobPhase before, JobPhase after) {
  if (is_terminal(before) || before == after) return false;
  switch (after) {
    case JobPhase::kPending: return false;
    case JobPhase::kStarting: return before == JobPhase::kPending;
    case JobPhase::kTraining: return before == JobPhase::kStarting;
    case JobPhase::kStopping: return true;
    case JobPhase::kStopped:
    case JobPhase::kMaxRuntimeExceeded: return before == JobPhase::kStopping;
    case JobPhase::kCompleted: return before == JobPhase::kTraining;
    case JobPhase::kFailed: return true;
  }
  return false;
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
  const auto* const known =
      std::find_if(kStatuses.begin(), kStatuses.end(), [&](const Named& one) { return one.name == status; });
  if (known == kStatuses.end()) {
    return Status(Code::kDataLoss, fmt::format("{}: unknown status \"{}\"", what, printable(status)));
  }
  transition.status = known->status;
  return transition;
}

}  // namespace trainwarden::jobs
