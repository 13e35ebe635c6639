// LaneHistory: where a subscription's deliveries stand. It is a fold of their records and of nothing else, so that
// whoever reads the ledger again stands where the last one stood.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "data/format/delivery_request.h"
#include "react/events/delivery_record.h"

namespace trainwarden::delivery {

// An event that is to be delivered.
struct OpenDelivery {
  int attempts = 0;         // made so far
  int attempts_before = 0;  // of these, before it was redriven
  bool redriven = false;
  std::int64_t since_unix_ns = 0;    // its first attempt, or when it was redriven; 0: neither
  std::int64_t next_unix_ns = 0;     // not before
  std::int64_t decided_unix_ns = 0;  // when that was decided

  // Also when the clock was put back since: nobody waits for the time to come again.
  bool is_due(std::int64_t unix_ns) const { return unix_ns >= next_unix_ns || unix_ns < decided_unix_ns; }
};

struct DeadLetter {
  int attempts = 0;
  std::int64_t dead_unix_ns = 0;
};

struct LaneHistory {
  // Of the newest event that was dealt with. As events are dealt with in order, those before it that are neither open
  // nor dead are settled.
  std::uint64_t highest_seq = 0;
  std::map<std::uint64_t, OpenDelivery> open;
  std::map<std::uint64_t, DeadLetter> dead;
  bool target_gone = false;
  std::map<std::string, std::int64_t> delivered_unix_ns;    // the newest delivery, by the events' subject
  std::map<std::string, std::int64_t> request_unix_ns;      // when a request for dead letters was first heard
  std::map<std::uint64_t, std::set<std::string>> requests;  // those that an event was moved by
};

// Adds a record; `subject` is that of its event.
void take_record(LaneHistory& history, const events::DeliveryRecord& record, const std::string& subject);

// The dead letters that a request moves: those that it names, that have died no later than `cutoff_unix_ns`, and that
// it has not moved before. It names a subscription, too; that is not looked at here.
std::vector<std::uint64_t> letters_meant(const LaneHistory& history, const format::DeliveryRequest& request,
                                         std::int64_t cutoff_unix_ns);

// `records`: of one subscription, in the order of writing; those of events beyond `last_seq` are passed over. `subject`
// gives the subject of an event.
LaneHistory fold_history(std::span<const events::DeliveryRecord> records, std::uint64_t last_seq,
                         const std::function<std::string(std::uint64_t seq)>& subject);

}  // namespace trainwarden::delivery
