// EventLog: what a run's ledger says, as a reader who does not keep it sees it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "react/events/ledger.h"
#include "store/journal/journal_reader.h"
#include "store/storage/location.h"
#include "trainwarden/status.h"

namespace trainwarden::views {

// How the delivery of one event to one subscriber stands: its records, folded.
struct DeliveryStanding {
  events::DeliveryRecord last;
  int attempts = 0;     // in all, with those before it was redriven
  std::string answer;   // the newest answer of the target
  std::string message;  // why the newest attempt failed
};

// One for each pair of subscription and event, in the order in which they began.
std::vector<DeliveryStanding> standings_of(const std::vector<events::DeliveryRecord>& records);

// "delivered", "waiting", "dead", ...; of one that has begun: "under way" when somebody keeps the ledger, else
// "broken off", as nobody knows how it ended.
std::string state_text(const DeliveryStanding& standing, bool kept);
bool is_pending(events::DeliveryState state);  // something is still to come of it

// One thread at a time.
class EventLog {
 public:
  // kNotFound when there is no run. A run of smdebug's, and one that nobody has watched, has an empty log.
  static Result<std::unique_ptr<EventLog>> open(const storage::Location& run);

  // Reads what is there now. False when nothing was written since the last time.
  Result<bool> refresh();
  bool kept() const;  // a process keeps the ledger now

  const events::LedgerContents& contents() const { return contents_; }
  std::vector<DeliveryStanding> standings() const { return standings_of(contents_.deliveries); }

 private:
  EventLog(storage::Location location, journal::RunInfo run, std::unique_ptr<journal::JournalReader> journal);

  const storage::Location location_;
  journal::RunInfo run_;
  std::unique_ptr<journal::JournalReader> journal_;  // null: nothing is ever written there
  std::size_t entries_ = 0;                          // of the journal, that contents_ has
  bool read_ = false;
  events::LedgerContents contents_;
};

}  // namespace trainwarden::views
