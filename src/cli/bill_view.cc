#include "cli/bill_view.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "trial/trial_access.h"

namespace trainwarden::cli {
namespace {

std::string percent(double share) {
  return fmt::format("{:.3g} %", 100 * share);
}

// "train: every save interval is 32 times as long; without hash"
std::string left_out_text(const format::BudgetEvent& event) {
  std::vector<std::string> parts;
  if (event.interval_factor > 1) {
    parts.push_back(fmt::format("save intervals are {} times as long", event.interval_factor));
  }
  if (!event.dropped.empty()) parts.push_back(printable(fmt::format("without {}", fmt::join(event.dropped, ", "))));
  return fmt::format("{}: {}", name(event.mode), fmt::join(parts, "; "));
}

}  // namespace

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

Json json_of(const WorkerBill& bill) {
  Json modes = Json::object();
  for (const auto& [mode, event] : bill.by_mode) {
    modes[std::string(name(mode))] = {{"interval_factor", event.interval_factor}, {"dropped", event.dropped}};
  }
  const format::BudgetEvent& newest = bill.newest();
  return {{"worker", bill.worker},
          {"budget", newest.budget},
          {"share", bill.share()},
          {"training_ns", newest.training_ns},
          {"capture_ns", newest.capture_ns},
          {"step", newest.global_step},
          {"modes", modes}};
}

void print_bills(std::FILE* stream, const std::vector<WorkerBill>& bills) {
  for (const WorkerBill& bill : bills) {
    const format::BudgetEvent& newest = bill.newest();
    const std::string budget = newest.budget > 0 ? fmt::format(", budget {}", percent(newest.budget)) : "";
    fmt::print(stream, "capture{}: {} of the training's time{}, as of step {}\n",
               bills.size() > 1 ? " of " + bill.worker : "", percent(bill.share()), budget, newest.global_step);
    for (const auto& [mode, event] : bill.by_mode) {
      if (event.interval_factor > 1 || !event.dropped.empty()) fmt::print(stream, "  {}\n", left_out_text(event));
    }
  }
}

}  // namespace trainwarden::cli
