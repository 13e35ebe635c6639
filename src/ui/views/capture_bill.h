// What capture costs a run's training, and what was left out to keep to the budget, as its workers reported it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "data/format/capture_events.h"
#include "trainwarden/mode.h"
#include "trainwarden/trial.h"

namespace trainwarden::views {

struct WorkerBill {
  std::string worker;
  std::map<Mode, format::BudgetEvent> by_mode;  // the newest of each mode; never empty

  // The newest of all: its sums are over all modes.
  const format::BudgetEvent& newest() const;
  double share() const;
};

// Of the workers that have reported one.
std::vector<WorkerBill> read_bills(const Trial& trial);

// The last global step that is known to have been trained, -1 for none. Steps of which nothing was kept are counted by
// the bills alone, which are written once a minute and at the end.
std::int64_t last_trained_step(const Trial& trial, const std::vector<WorkerBill>& bills);

}  // namespace trainwarden::views
