// RestoredRun: where a ledger has left off.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "react/events/ledger.h"
#include "react/events/run_status.h"
#include "react/events/run_view.h"

namespace trainwarden::events {

struct RestoredAlert {
  std::string rule_id;
  RuleParameters parameters;
  std::int64_t global_step = -1;
  std::int64_t to_unix_ns = 0;  // of a verdict on a window of time
  std::string key;
};

struct RestoredRun {
  std::vector<RunTransition> transitions;
  std::vector<RuleRow> rules;
  std::map<std::string, std::int64_t> taken_up_unix_ns;  // by rule's id: when it came to be in progress last
  std::vector<RestoredAlert> alerts;
  Intake intake;  // at least as far as the events reach: one that was recorded is never taken in again
  std::int64_t modified_unix_ns = 0;
};

RestoredRun restore_run(const Ledger& ledger);

}  // namespace trainwarden::events
