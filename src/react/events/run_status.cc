#include "react/events/run_status.h"

#include <algorithm>
#include <utility>

namespace trainwarden::events {

std::string_view name(PrimaryStatus status) {
  switch (status) {
    case PrimaryStatus::kInProgress: return "InProgress";
    case PrimaryStatus::kCompleted: return "Completed";
    case PrimaryStatus::kFailed: return "Failed";
    case PrimaryStatus::kStopping: return "Stopping";
    case PrimaryStatus::kStopped: return "Stopped";
  }
  return "unknown";
}

std::string_view name(SecondaryStatus status) {
  switch (status) {
    case SecondaryStatus::kStarting: return "Starting";
    case SecondaryStatus::kTraining: return "Training";
    case SecondaryStatus::kInterrupted: return "Interrupted";
    case SecondaryStatus::kRestarting: return "Restarting";
    case SecondaryStatus::kStopping: return "Stopping";
    case SecondaryStatus::kCompleted: return "Completed";
    case SecondaryStatus::kFailed: return "Failed";
    case SecondaryStatus::kStopped: return "Stopped";
  }
  return "unknown";
}

std::optional<SecondaryStatus> secondary_status(std::string_view text) {
  for (const SecondaryStatus status : kSecondaryStatuses) {
    if (name(status) == text) return status;
  }
  return std::nullopt;
}

PrimaryStatus primary_of(SecondaryStatus status) {
  switch (status) {
    case SecondaryStatus::kStarting:
    case SecondaryStatus::kTraining:
    case SecondaryStatus::kInterrupted:
    case SecondaryStatus::kRestarting: return PrimaryStatus::kInProgress;
    case SecondaryStatus::kStopping: return PrimaryStatus::kStopping;
    case SecondaryStatus::kCompleted: return PrimaryStatus::kCompleted;
    case SecondaryStatus::kFailed: return PrimaryStatus::kFailed;
    case SecondaryStatus::kStopped: return PrimaryStatus::kStopped;
  }
  return PrimaryStatus::kFailed;
}

bool is_terminal(SecondaryStatus status) {
  return status == SecondaryStatus::kCompleted || status == SecondaryStatus::kFailed ||
         status == SecondaryStatus::kStopped;
}

bool may_follow(SecondaryStatus from, SecondaryStatus to) {
  switch (from) {
    case SecondaryStatus::kStarting: return to != SecondaryStatus::kStarting && to != SecondaryStatus::kRestarting;
    case SecondaryStatus::kTraining:
      return to == SecondaryStatus::kInterrupted || to == SecondaryStatus::kStopping || is_terminal(to);
    case SecondaryStatus::kInterrupted:
      return to == SecondaryStatus::kRestarting || to == SecondaryStatus::kStopping || to == SecondaryStatus::kFailed ||
             to == SecondaryStatus::kStopped;
    case SecondaryStatus::kRestarting:
      return to == SecondaryStatus::kTraining || to == SecondaryStatus::kInterrupted ||
             to == SecondaryStatus::kStopping || is_terminal(to);
    case SecondaryStatus::kStopping: return is_terminal(to);
    case SecondaryStatus::kFailed:
    case SecondaryStatus::kCompleted:
    case SecondaryStatus::kStopped: return to == SecondaryStatus::kRestarting;
  }
  return false;
}

bool RunTable::advance(SecondaryStatus to, std::int64_t unix_ns, std::string message) {
  if (transitions_.empty()) {
    if (to != SecondaryStatus::kStarting) return false;
  } else {
    if (!may_follow(status(), to)) return false;
    // The times are of several machines' clocks: the table never goes back.
    unix_ns = std::max(unix_ns, transitions_.back().start_unix_ns);
    transitions_.back().end_unix_ns = unix_ns;
  }
  transitions_.push_back({to, unix_ns, 0, std::move(message)});
  return true;
}

int RunTable::attempt() const {
  return 1 + static_cast<int>(std::count_if(transitions_.begin(), transitions_.end(), [](const RunTransition& row) {
           return row.status == SecondaryStatus::kRestarting;
         }));
}

}  // namespace trainwarden::events
