#include "ui/views/profile/profile_span.h"

#include <algorithm>

#include "data/format/run_event.h"
#include "read/trial/trial_access.h"

namespace trainwarden::views {
namespace {

// When the last of the workers said that it ends; 0 when none did, or one has gone on since.
std::int64_t said_end_unix_ns(const Trial& trial) {
  std::int64_t end = 0;
  std::int64_t of_worker = 0;
  std::string reading;
  bool goes_on = false;
  TrialAccess::visit_events(trial, [&](const std::string& worker, const journal::EventEntry& entry) {
    if (entry.kind != format::FrameKind::kEvent) return;
    if (worker != reading) {
      reading = worker;
      of_worker = 0;
    }
    const auto type = format::event_type(entry.json);
    if (!type.ok() || (*type != "run_end" && *type != "run_resume")) return;
    of_worker = *type == "run_end" ? entry.unix_ns : 0;
    goes_on = of_worker == 0;
    end = std::max(end, of_worker);
  });
  return goes_on ? 0 : end;
}

std::int64_t newest_sample_unix_ns(Trial& trial, std::int64_t from_unix_ns) {
  std::int64_t newest = 0;
  for (trial::SampledJournal* const journal : TrialAccess::steadily_sampled(trial)) {
    if (!journal->readable()) continue;
    const auto times = journal->reader().sample_times(from_unix_ns);
    if (times.ok() && *times) newest = std::max(newest, (*times)->last_unix_ns);
  }
  return newest;
}

}  // namespace

ProfileSpan profile_span(Trial& trial) {
  ProfileSpan span;
  span.from_unix_ns = trial.created_unix_ns();
  span.to_unix_ns = trial.last_unix_ns();
  const RunState state = trial.state();
  const std::int64_t said = state == RunState::kCompleted || state == RunState::kStopped ? said_end_unix_ns(trial) : 0;
  if (said > 0) {
    span.to_unix_ns = std::max(span.to_unix_ns, said);
  } else {
    span.to_unix_ns = std::max(span.to_unix_ns, newest_sample_unix_ns(trial, span.to_unix_ns));
  }
  span.to_unix_ns = std::max(span.to_unix_ns, span.from_unix_ns) + 1;
  return span;
}

}  // namespace trainwarden::views
