// BillView: what capture costs a run's training, and what was left out to keep to the budget, as its workers told it.
#pragma once

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "cli/json_out.h"
#include "format/capture_events.h"
#include "trainwarden/mode.h"
#include "trainwarden/trial.h"

namespace trainwarden::cli {

struct WorkerBill {
  std::string worker;
  std::map<Mode, format::BudgetEvent> by_mode;  // the newest of each mode; never empty

  // The newest of all: its sums are over all modes.
  const format::BudgetEvent& newest() const;
  double share() const;
};

// Of the workers that have told one.
std::vector<WorkerBill> read_bills(const Trial& trial);

Json json_of(const WorkerBill& bill);
void print_bills(std::FILE* stream, const std::vector<WorkerBill>& bills);

}  // namespace trainwarden::cli
