// DeliveryRecord: what became of one event at one subscriber, as JSON in action frames of the ledger.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden::events {

enum class DeliveryState : std::uint8_t {
  kStarted,     // an attempt was begun; when nothing follows, nobody knows how it ended
  kDelivered,   // done
  kWaiting,     // it failed, and is tried again at next_unix_ns
  kDead,        // given up: a dead letter
  kSuppressed,  // left out on purpose: cool-down
  kRedriven,    // a dead letter that somebody wants tried again
  kDropped,     // a dead letter that nobody wants any more
};
std::string_view name(DeliveryState state);  // "started", "delivered", ...

struct DeliveryRecord {
  std::string subscription;  // its name
  std::string action;        // "webhook"
  std::string place;         // Action::place()
  std::uint64_t seq = 0;     // of the event
  std::string event_id;
  std::string key;  // of the event
  DeliveryState state = DeliveryState::kStarted;
  int attempt = 1;
  std::string answer;             // ActionOutcome::answer
  std::string message;            // why it failed
  std::int64_t unix_ns = 0;       // of this record
  std::int64_t next_unix_ns = 0;  // of kWaiting
  std::int64_t duration_ns = 0;   // of the attempt
  bool target_gone = false;       // of kDead: no event is sent there any more, until one is redriven
  std::string request;  // of kRedriven and kDropped: key of the request (data/format/delivery_request.h), if any
};

std::string encode_delivery(const DeliveryRecord& record);                     // {"type": "delivery", ...}
Result<std::optional<DeliveryRecord>> decode_delivery(std::string_view json);  // none: of another type

// A subscriber was seen for the first time, or its configuration moved.
struct SubscribedRecord {
  std::string subscription;
  std::string action;
  std::string place;
  std::string config;          // path of the file that configures it; empty: the command line
  std::uint64_t from_seq = 1;  // the first event that it gets
  std::int64_t unix_ns = 0;
};
std::string encode_subscribed(const SubscribedRecord& record);  // {"type": "subscribed", ...}
Result<std::optional<SubscribedRecord>> decode_subscribed(std::string_view json);

}  // namespace trainwarden::events
