#include "ui/cli/reports/bill_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "ui/cli/terminal/output.h"

namespace trainwarden::cli {
namespace {

std::string percent(double share) {
  return fmt::format("{:.3g} %", 100 * share);
}

// A training of seconds has spent what it may cost at its start, and not yet the time of which that is a small share.
std::string budget_text(const format::BudgetEvent& newest) {
  if (newest.budget <= 0) return "";
  return fmt::format(" (budget {} and {} s at the start)", percent(newest.budget),
                     1e-9 * static_cast<double>(format::kStartAllowanceNs));
}

// "train: save intervals are 32 times as long, those of signals 4 times; without hash"
std::string left_out_text(const format::BudgetEvent& event) {
  std::vector<std::string> parts;
  if (event.interval_factor > 1) {
    parts.push_back(fmt::format("save intervals are {} times as long", event.interval_factor));
  }
  if (event.signals_factor > 1) parts.push_back(fmt::format("those of signals {} times", event.signals_factor));
  if (event.losses_factor > 1) parts.push_back(fmt::format("those of losses {} times", event.losses_factor));
  if (!event.dropped.empty()) parts.push_back(fmt::format("without {}", fmt::join(event.dropped, ", ")));
  return fmt::format("{}: {}", name(event.mode), fmt::join(parts, "; "));
}

}  // namespace

OrderedJson json_of(const views::WorkerBill& bill) {
  OrderedJson modes = OrderedJson::object();
  for (const auto& [mode, event] : bill.by_mode) {
    modes[std::string(name(mode))] = {{"interval_factor", event.interval_factor},
                                      {"losses_factor", event.losses_factor},
                                      {"signals_factor", event.signals_factor},
                                      {"dropped", event.dropped}};
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

std::string progress_text(const Trial& trial) {
  const std::size_t kept = trial.steps().size();
  const std::int64_t last = views::last_trained_step(trial, views::read_bills(trial));
  if (last < static_cast<std::int64_t>(kept)) return fmt::format("{} steps", kept);
  return fmt::format("{} steps kept, trained up to step {}", kept, last);
}

void print_bills(std::FILE* stream, const std::vector<views::WorkerBill>& bills) {
  for (const views::WorkerBill& bill : bills) {
    const format::BudgetEvent& newest = bill.newest();
    emit(stream, "capture{}: {:.3g} s of {:.3g} s of training, {}{}, as of step {}\n",
         bills.size() > 1 ? " of " + bill.worker : "", 1e-9 * static_cast<double>(newest.capture_ns),
         1e-9 * static_cast<double>(newest.training_ns), percent(bill.share()), budget_text(newest),
         newest.global_step);
    for (const auto& [mode, event] : bill.by_mode) {
      if (event.interval_factor > 1 || event.signals_factor > 1 || event.losses_factor > 1 || !event.dropped.empty())
        emit(stream, "  {}\n", left_out_text(event));
    }
  }
}

}  // namespace trainwarden::cli
