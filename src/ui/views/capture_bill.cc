#include "ui/views/capture_bill.h"

#include <algorithm>

#include "read/trial/trial_access.h"

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
  TrialAccess::visit_events(trial, [&](const std::string& worker, const journal::EventEntry& entry) {
    if (entry.kind != format::FrameKind::kEvent) return;
    const auto event = format::decode_budget_event(entry.json);
    if (!event.ok() || !*event) return;
    if (bills.empty() || bills.back().worker != worker) bills.push_back({worker, {}});
    bills.back().by_mode[(*event)->mode] = **event;
  });
  return bills;
}

std::int64_t last_trained_step(const Trial& trial, const std::vector<WorkerBill>& bills) {
  const std::vector<std::int64_t> kept = trial.steps();
  std::int64_t last = kept.empty() ? -1 : kept.back();
  for (const WorkerBill& bill : bills) last = std::max(last, bill.newest().global_step);
  return last;
}

}  // namespace trainwarden::views
