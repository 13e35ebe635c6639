// What must be in a run, and with its subscribers, when everything was judged and delivered: told from the journals of
// the engines and the logs of the subscribers, with none of the code that records and delivers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "act_scene.h"
#include "react/events/ledger.h"

namespace trainwarden::act {

events::LedgerContents read_ledger_of(const ActScene& scene);

// Each alarm and each change of a rule's status that the engines' journals hold is in the ledger, once and in the order
// in which it happened; the run's states follow from each other; events are numbered without a gap.
void check_changes(const ActScene& scene, const events::LedgerContents& ledger);

// Each event that the subscription asked for was delivered: no event before an earlier one, none begun again once it
// was recorded as delivered.
void check_deliveries(const events::LedgerContents& ledger, std::string_view subscription);

// One line of a subscriber's log.
struct LogLine {
  std::string key;
  std::string event_id;
  int attempt = 0;
  std::string outcome;  // "begun", "done", "down"
};
std::vector<LogLine> read_log(const ActScene& scene, std::string_view subscription);

// The subscriber has heard of each event and could finish at least once, first in the order of the events, always under
// the same key, and never without an attempt having been recorded before.
void check_log(const std::vector<LogLine>& log, const events::LedgerContents& ledger, std::string_view subscription);

// The requests to stop in the run's control folder: each is for an alert that kStopper asked for, none is there twice.
// Returns how many there are.
int check_stop_requests(const ActScene& scene, const events::LedgerContents& ledger);

}  // namespace trainwarden::act
