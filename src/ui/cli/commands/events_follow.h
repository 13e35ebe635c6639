// `trainwarden events RUN --follow`: events as they come.
#pragma once

#include <filesystem>
#include <functional>

#include "trainwarden/status.h"
#include "ui/cli/options/event_filter.h"
#include "ui/views/event_log.h"

namespace trainwarden::cli {

// Calls `on_event` with each event that is there and that comes, in order, and returns when no more can come: the run
// has ended and nobody keeps its ledger. Of the folder with the events of all jobs more can always come.
Status follow_events(const std::filesystem::path& run, bool all_jobs, const EventFilter& filter,
                     const std::function<void(const events::Event&, const views::EventLog&)>& on_event);

// Nobody reads what we print any more: a pipe whose reader is gone is noticed by nothing but a write, and the next
// event may be hours away.
bool reader_is_gone();

}  // namespace trainwarden::cli
