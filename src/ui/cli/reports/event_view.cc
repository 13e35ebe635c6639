#include "ui/cli/reports/event_view.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "ui/cli/terminal/table.h"
#include "ui/cli/terminal/time_text.h"

namespace trainwarden::cli {
namespace {

std::string subject_of(const views::EventLog& log, std::uint64_t seq) {
  const auto& events = log.contents().events;
  return seq >= 1 && seq <= events.size() ? events[seq - 1].subject : "";
}

// "lost" for an event that only stands where one was that cannot be read any more.
std::string what_of(const events::Event& event) {
  return event.type == events::kLostType ? "lost" : change_text(event.change);
}

// What the target said, or why there is no word of it.
std::string answer_text(const views::DeliveryStanding& standing) {
  if (standing.message.empty()) return printable(standing.answer);
  if (standing.answer.empty()) return printable(standing.message);
  return fmt::format("{}: {}", printable(standing.answer), printable(standing.message));
}

}  // namespace

StandingsOfEvents by_event(const std::vector<views::DeliveryStanding>& standings) {
  StandingsOfEvents of_events;
  for (const views::DeliveryStanding& standing : standings) of_events[standing.last.seq].push_back(standing);
  return of_events;
}

std::string change_text(const events::Change& change) {
  if (change.kind == events::ChangeKind::kAlert) return std::string(name(change.kind));
  if (change.from.empty()) return fmt::format("-> {}", printable(change.to));
  return fmt::format("{} -> {}", printable(change.from), printable(change.to));
}

std::string deliveries_text(const std::vector<views::DeliveryStanding>& standings, bool kept) {
  std::string text;
  for (const views::DeliveryStanding& standing : standings) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", printable(standing.last.subscription), state_text(standing, kept));
  }
  return text;
}

std::string event_table(const std::vector<events::Event>& events, const StandingsOfEvents& standings, bool kept) {
  Table table({{"SEQ", Align::kRight}, {"TIME"}, {"SUBJECT"}, {"CHANGE"}, {"DELIVERIES"}, {"HEADLINE"}});
  for (const events::Event& event : events) {
    const auto of_event = standings.find(event.seq);
    table.add_row({std::to_string(event.seq), local_time_text(event.unix_ns), event.subject, change_text(event.change),
                   of_event == standings.end() ? "-" : deliveries_text(of_event->second, kept), event.headline});
  }
  return table.to_string();
}

std::string event_line(const events::Event& event) {
  return fmt::format("{:>4}  {}  {}: {}", event.seq, local_time_text(event.unix_ns), what_of(event),
                     printable(event.headline));
}

OrderedJson json_of(const events::SubscribedRecord& subscribed) {
  return {{"name", subscribed.subscription}, {"action", subscribed.action},     {"place", subscribed.place},
          {"config", subscribed.config},     {"from_seq", subscribed.from_seq}, {"unix_ns", subscribed.unix_ns}};
}

std::string delivery_table(const std::vector<views::DeliveryStanding>& standings, const views::EventLog& log) {
  const bool kept = log.kept();
  Table table({{"EVENT", Align::kRight},
               {"SUBJECT"},
               {"SUBSCRIPTION"},
               {"ACTION"},
               {"PLACE"},
               {"STATE"},
               {"ATTEMPTS", Align::kRight},
               {"LAST"},
               {"NEXT"},
               {"ANSWER"}});
  for (const views::DeliveryStanding& standing : standings) {
    const events::DeliveryRecord& last = standing.last;
    table.add_row({std::to_string(last.seq), subject_of(log, last.seq), last.subscription, last.action, last.place,
                   state_text(standing, kept), std::to_string(standing.attempts), local_time_text(last.unix_ns),
                   last.state == events::DeliveryState::kWaiting ? local_time_text(last.next_unix_ns) : "-",
                   answer_text(standing)});
  }
  return table.to_string();
}

}  // namespace trainwarden::cli
