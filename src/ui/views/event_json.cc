#include "ui/views/event_json.h"

namespace trainwarden::views {

using format::OrderedJson;

OrderedJson json_of(const DeliveryStanding& standing) {
  const events::DeliveryRecord& last = standing.last;
  return {{"seq", last.seq},
          {"event_id", last.event_id},
          {"key", last.key},
          {"subscription", last.subscription},
          {"action", last.action},
          {"place", last.place},
          {"state", name(last.state)},
          {"attempts", standing.attempts},
          {"answer", standing.answer},
          {"message", standing.message},
          {"unix_ns", last.unix_ns},
          {"next_unix_ns", last.next_unix_ns},
          {"duration_ns", last.duration_ns}};
}

OrderedJson json_of(const events::Event& event, const std::vector<DeliveryStanding>& standings) {
  OrderedJson deliveries = OrderedJson::array();
  for (const DeliveryStanding& standing : standings) deliveries.push_back(json_of(standing));
  return {{"seq", event.seq},
          {"id", event.id},
          {"key", event.key},
          {"type", event.type},
          {"subject", event.subject},
          {"unix_ns", event.unix_ns},
          {"change",
           {{"kind", name(event.change.kind)},
            {"rule", event.change.rule},
            {"from", event.change.from},
            {"to", event.change.to}}},
          {"step", event.global_step},
          {"headline", event.headline},
          {"text", event.text},
          {"deliveries", deliveries}};
}

}  // namespace trainwarden::views
