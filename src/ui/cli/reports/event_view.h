// Events of a run and what became of them, for people and for programs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "react/events/event.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/views/event_json.h"
#include "ui/views/event_log.h"

namespace trainwarden::cli {

// How an event's deliveries stand, by its seq.
using StandingsOfEvents = std::map<std::uint64_t, std::vector<views::DeliveryStanding>>;
StandingsOfEvents by_event(const std::vector<views::DeliveryStanding>& standings);

// "InProgress -> IssuesFound", "-> InProgress" for a first status, "alert".
std::string change_text(const events::Change& change);
// "stop delivered, ops waiting": of one event.
std::string deliveries_text(const std::vector<views::DeliveryStanding>& standings, bool kept);

// A table, one line an event.
std::string event_table(const std::vector<events::Event>& events, const StandingsOfEvents& standings, bool kept);
// One line without a table around it, for events that come one by one.
std::string event_line(const events::Event& event);

// A table, one line a delivery, and how many dead letters there are. `log` has the events they are of.
std::string delivery_table(const std::vector<views::DeliveryStanding>& standings, const views::EventLog& log);
OrderedJson json_of(const events::SubscribedRecord& subscribed);

}  // namespace trainwarden::cli
