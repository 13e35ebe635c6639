// Dispatcher: runs the actions that a fired verdict calls for, and tells what came of them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actions/by_verdict/action.h"
#include "base/clock.h"

namespace trainwarden::actions::by_verdict {

// Takes one JSON text about an action on a verdict of this global step; the engine writes it into its journal.
using ActionSink = std::function<Status(std::int64_t global_step, std::string_view json)>;

struct ActionOutcome {
  std::string action;
  std::string key;
  Status status;
  std::int64_t duration_ns = 0;
};

// One thread at a time.
class Dispatcher {
 public:
  // `requested_by`: who judges, "watch-0". `clock` must outlive the dispatcher.
  Dispatcher(std::string requested_by, ActionSink sink, const Clock& clock = system_clock());

  // The action is run for each verdict that fires, or for those of one rule only.
  void add(std::unique_ptr<Action> action, std::string rule_id = {});

  // Runs the actions, one after the other, and returns what came of each. An action that failed or threw does not keep
  // the next from running, and is run again when the same verdict is dispatched again; one that succeeded is not.
  std::vector<ActionOutcome> dispatch(const FiredVerdict& fired, std::stop_token stop = {});

 private:
  struct Entry {
    std::unique_ptr<Action> action;
    std::string rule_id;  // empty: any
  };

  ActionOutcome run(Action& action, const FiredVerdict& fired, const std::string& key, std::stop_token stop);
  void tell(std::int64_t global_step, const std::string& json);

  const std::string requested_by_;
  const ActionSink sink_;
  const Clock& clock_;
  std::vector<Entry> entries_;
  std::set<std::pair<const Action*, std::string>> done_;  // action, key
};

// The two JSON texts: {"type":"action_start", ...} and {"type":"action_outcome", ...} (docs/reference/rules.md).
std::string encode_action_start(std::string_view action, std::string_view key, const FiredVerdict& fired);
std::string encode_action_outcome(const ActionOutcome& outcome, const FiredVerdict& fired);

}  // namespace trainwarden::actions::by_verdict
