#include "react/events/delivery_record.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "core/base/secret_mask.h"
#include "data/format/json.h"
#include "store/journal/typed_record.h"

namespace trainwarden::events {
namespace {

using format::Json;
using format::OrderedJson;

constexpr const char* kDeliveryType = "delivery";
constexpr const char* kSubscribedType = "subscribed";

constexpr std::array kStates = {DeliveryState::kStarted, DeliveryState::kDelivered,  DeliveryState::kWaiting,
                                DeliveryState::kDead,    DeliveryState::kSuppressed, DeliveryState::kRedriven,
                                DeliveryState::kDropped};

Result<DeliveryState> state_field(const Json& json) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string word, format::string_field(json, "state"));
  const auto found = std::find_if(kStates.begin(), kStates.end(), [&](DeliveryState s) { return name(s) == word; });
  if (found != kStates.end()) return *found;
  return Status(Code::kDataLoss, fmt::format("field \"state\": unknown state \"{}\"", word));
}

Result<DeliveryRecord> delivery_from_json(const Json& json) {
  DeliveryRecord record;
  TRAINWARDEN_ASSIGN_OR_RETURN(record.subscription, format::string_field(json, "subscription"));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.action, format::string_field(json, "action"));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.place, format::string_field(json, "place"));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.seq, format::uint_field(json, "seq"));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.event_id, format::string_field(json, "event_id"));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.key, format::string_field(json, "key"));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.state, state_field(json));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t attempt,
                               format::int_field(json, "attempt", 0, std::numeric_limits<int>::max()));
  record.attempt = static_cast<int>(attempt);
  TRAINWARDEN_ASSIGN_OR_RETURN(record.answer, format::string_field(json, "answer"));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.message, format::string_field(json, "message"));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.unix_ns, format::int_field(json, "unix_ns"));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.next_unix_ns, format::int_field(json, "next_unix_ns"));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.duration_ns, format::int_field(json, "duration_ns"));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.target_gone, format::bool_field(json, "target_gone"));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.request, format::string_field(json, "request"));
  return record;
}

Result<SubscribedRecord> subscribed_from_json(const Json& json) {
  SubscribedRecord record;
  TRAINWARDEN_ASSIGN_OR_RETURN(record.subscription, format::string_field(json, "subscription"));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.action, format::string_field(json, "action"));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.place, format::string_field(json, "place"));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.config, format::string_field(json, "config"));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.from_seq, format::uint_field(json, "from_seq"));
  TRAINWARDEN_ASSIGN_OR_RETURN(record.unix_ns, format::int_field(json, "unix_ns"));
  return record;
}

}  // namespace

std::string_view name(DeliveryState state) {
  switch (state) {
    case DeliveryState::kStarted: return "started";
    case DeliveryState::kDelivered: return "delivered";
    case DeliveryState::kWaiting: return "waiting";
    case DeliveryState::kDead: return "dead";
    case DeliveryState::kSuppressed: return "suppressed";
    case DeliveryState::kRedriven: return "redriven";
    case DeliveryState::kDropped: return "dropped";
  }
  return "unknown";
}

std::string encode_delivery(const DeliveryRecord& record) {
  return format::dump_json({{"type", kDeliveryType},
                            {"subscription", record.subscription},
                            {"action", record.action},
                            {"place", record.place},
                            {"seq", record.seq},
                            {"event_id", record.event_id},
                            {"key", record.key},
                            {"state", name(record.state)},
                            {"attempt", record.attempt},
                            {"answer", mask_secrets(record.answer)},
                            {"message", mask_secrets(record.message)},
                            {"unix_ns", record.unix_ns},
                            {"next_unix_ns", record.next_unix_ns},
                            {"duration_ns", record.duration_ns},
                            {"target_gone", record.target_gone},
                            {"request", record.request}});
}

Result<std::optional<DeliveryRecord>> decode_delivery(std::string_view json) {
  return journal::decode_typed<DeliveryRecord>(json, kDeliveryType, delivery_from_json);
}

std::string encode_subscribed(const SubscribedRecord& record) {
  return format::dump_json({{"type", kSubscribedType},
                            {"subscription", record.subscription},
                            {"action", record.action},
                            {"place", record.place},
                            {"config", record.config},
                            {"from_seq", record.from_seq},
                            {"unix_ns", record.unix_ns}});
}

Result<std::optional<SubscribedRecord>> decode_subscribed(std::string_view json) {
  return journal::decode_typed<SubscribedRecord>(json, kSubscribedType, subscribed_from_json);
}

}  // namespace trainwarden::events
