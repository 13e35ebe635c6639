// What capture costs a run's training, and what was left out to keep to the budget, as its workers told it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "format/capture_events.h"
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

// Of the workers that have told one.
std::vector<WorkerBill> read_bills(const Trial& trial);

}  // namespace trainwarden::views
