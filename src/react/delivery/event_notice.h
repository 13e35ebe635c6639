// What a subscriber gets of an event.
#pragma once

#include <filesystem>
#include <string>

#include "react/actions/action.h"
#include "react/delivery/subscription.h"
#include "react/events/event.h"

namespace trainwarden::delivery {

// The event in this format; patterns are matched against the same.
std::string document_of(const events::Event& event, EventFormat format);

// All but who asks. Without a name of a run each event says whose it is. `attempt`: 1 for the first delivery of this
// event.
actions::EventNotice make_notice(const events::Event& event, EventFormat format, const std::string& run_name,
                                 const std::filesystem::path& run, int attempt);

}  // namespace trainwarden::delivery
