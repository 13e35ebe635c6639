#include "ui/cli/commands/events_follow.h"

#include <chrono>
#include <cstdio>
#include <thread>

#include <poll.h>
#include <unistd.h>

#include "trainwarden/trial.h"
#include "ui/cli/terminal/output.h"

namespace trainwarden::cli {
namespace {

constexpr std::chrono::milliseconds kEventLookInterval{100};

}  // namespace

bool reader_is_gone() {
  pollfd output{STDOUT_FILENO, 0, 0};
  return ::poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
}

Status follow_events(const std::filesystem::path& run, bool all_jobs, const EventFilter& filter,
                     const std::function<void(const events::Event&, const views::EventLog&)>& on_event) {
  std::unique_ptr<Trial> trial;
  if (!all_jobs) {
    TRAINWARDEN_ASSIGN_OR_RETURN(trial, Trial::open(run));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto log, views::EventLog::open(run));
  std::size_t seen = 0;
  while (true) {
    // Both are asked before the look, so that what came in between is seen.
    if (trial != nullptr) TRAINWARDEN_RETURN_IF_ERROR(trial->refresh());
    const bool last_look = trial != nullptr && trial->state() != RunState::kRunning && !log->kept();
    TRAINWARDEN_RETURN_IF_ERROR(log->refresh().status());
    const auto& events = log->contents().events;
    for (; seen < events.size(); ++seen) {
      TRAINWARDEN_ASSIGN_OR_RETURN(const bool taken, filter.takes(events[seen]));
      if (taken) on_event(events[seen], *log);
    }
    if (reader_is_gone()) return {};
    TRAINWARDEN_RETURN_IF_ERROR(flush_output());
    if (last_look) return {};
    std::this_thread::sleep_for(kEventLookInterval);
  }
}

}  // namespace trainwarden::cli
