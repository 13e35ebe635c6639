// Events of a run and their deliveries as JSON, in the terminal and on the page alike.
#pragma once

#include <vector>

#include "data/format/json.h"
#include "react/events/event.h"
#include "ui/views/event_log.h"

namespace trainwarden::views {

format::OrderedJson json_of(const DeliveryStanding& standing);
format::OrderedJson json_of(const events::Event& event, const std::vector<DeliveryStanding>& standings);

}  // namespace trainwarden::views
