#include "views/capture_bill.h"

#include <algorithm>

#include "trial/trial_access.h"

namespace trainwarden::views {

const format::BudgetEvent& WorkerBill::newest() const {
  return std::max_element(by_mode.begin(), by_mode.end(),
                          [](const auto& a, const auto& b) { return a.second.global_step < b.second.global_step; })
      ->second;
}

double WorkerBill::share() const {
  const format::BudgetEvent& event = newest();
  return event.training_ns > 0 ? static_cast<double>(event.capture_ns) / static_cast<double>(event.training_ns) : 0;
}

std::vector<WorkerBill> read_bills(const Trial& trial) {
  std::vector<WorkerBill> bills;
  for (const WorkerEvent& entry : TrialAccess::events(trial)) {
    if (entry.event.kind != format::FrameKind::kEvent) continue;
    const auto event = format::decode_budget_event(entry.event.json);
    if (!event.ok() || !*event) continue;
    if (bills.empty() || bills.back().worker != entry.worker) bills.push_back({entry.worker, {}});
    bills.back().by_mode[(*event)->mode] = **event;
  }
  return bills;
}

std::int64_t last_trained_step(const Trial& trial, const std::vector<WorkerBill>& bills) {
  const std::vector<std::int64_t> kept = trial.steps();
  std::int64_t last = kept.empty() ? -1 : kept.back();
  for (const WorkerBill& bill : bills) last = std::max(last, bill.newest().global_step);
  return last;
}

}  // namespace trainwarden::views
