// `trainwarden events RUN --follow`: events as they come.
#pragma once

#include <filesystem>
#include <functional>

#include "trainwarden/status.h"
#include "ui/cli/options/event_filter.h"
#include "ui/views/event_log.h"

namespace trainwarden::cli {

// Calls `on_event` with each event that is there and that comes, in order, and returns when no more can come: the run
// has ended and nobody keeps its ledger.
Status follow_events(const std::filesystem::path& run, const EventFilter& filter,
                     const std::function<void(const events::Event&, const views::EventLog&)>& on_event);

}  // namespace trainwarden::cli
