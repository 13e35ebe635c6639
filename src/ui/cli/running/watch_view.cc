#include "ui/cli/running/watch_view.h"

#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/reports/rule_report.h"
#include "ui/cli/reports/run_summary.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/table.h"
#include "ui/views/last_loss.h"

namespace trainwarden::cli {
namespace {

constexpr std::int64_t kTerminalIntervalNs = 100'000'000;
constexpr std::int64_t kPipeIntervalNs = 5'000'000'000;
constexpr std::int64_t kWatchRateWindowNs = 5'000'000'000;

// "2 ok, ExplodingTensor FIRED": only what needs a look is named.
std::string rules_text(const std::vector<rules::RuleStatusRecord>& statuses) {
  std::size_t ok_count = 0;
  std::string named;
  for (const rules::RuleStatusRecord& rule : statuses) {
    if (rule.status == RuleStatus::kIssuesFound) {
      named += fmt::format(", {} FIRED", printable(rule.rule_id));
    } else if (rule.status == RuleStatus::kError) {
      named += fmt::format(", {} FAILED", printable(rule.rule_id));
    } else {
      ++ok_count;
    }
  }
  return fmt::format("{} ok{}", ok_count, named);
}

}  // namespace

std::string progress_text(Trial& trial, const std::vector<rules::RuleStatusRecord>& statuses, double steps_per_second) {
  const std::int64_t step = trial.last_complete_step();
  std::string text = rules::place_text(rules::place_of(trial, step));
  if (steps_per_second > 0) text += fmt::format("  {:.1f} steps/s", steps_per_second);
  if (const auto loss = views::last_loss(trial)) text += fmt::format("  loss {}", format_number(loss->value));
  return text + "  rules: " + rules_text(statuses);
}

std::string delivery_text(const events::DeliveryRecord& delivery, const events::Event& event) {
  using State = events::DeliveryState;
  const std::string what = fmt::format("{}: {}", printable(delivery.subscription), printable(event.headline));
  const std::string why = printable(delivery.message.empty() ? delivery.answer : delivery.message);
  switch (delivery.state) {
    case State::kDelivered:
      return fmt::format("{}: {} after {}", what, printable(delivery.answer), format_duration_ns(delivery.duration_ns));
    case State::kWaiting:
      return fmt::format("{}: failed, tried again in {}: {}", what,
                         format_duration_ns(delivery.next_unix_ns - delivery.unix_ns), why);
    case State::kDead: return fmt::format("{}: given up: {}", what, why);
    case State::kStarted:
    case State::kSuppressed:
    case State::kRedriven:
    case State::kDropped: break;
  }
  return fmt::format("{}: {}{}{}", what, name(delivery.state), why.empty() ? "" : ": ", why);
}

void print_backlog(const std::filesystem::path& run, const delivery::Backlog& backlog) {
  const std::string typed = typed_run(run);
  if (backlog.pending > 0) {
    emit(stderr, "trainwarden: {} events are still to be delivered: {} events deliver {}\n", backlog.pending,
         typed_program(), typed);
  }
  if (backlog.dead > 0) {
    emit(stderr, "trainwarden: {} deliveries were given up: {} events deliveries {} --dead\n", backlog.dead,
         typed_program(), typed);
  }
}

WatchView::WatchView(std::FILE* stream, Chatter chatter)
    : line_(stream, terminal_of(stream)),
      chatter_(chatter),
      interval_ns_(line_.interactive() ? kTerminalIntervalNs : kPipeIntervalNs) {}

void WatchView::on_verdict(const rules::VerdictRecord& verdict) {
  const bool failed = verdict.verdict.outcome == Outcome::kError;
  const std::string what =
      failed ? fmt::format("{} failed at {}", printable(verdict.rule_id), rules::place_text(verdict.place))
             : fired_text(verdict);
  line_.print(fmt::format("{}: {}", what, printable(verdict.verdict.message)));
}

// Every change is reported already, only what went wrong is news here; and an action that had nothing to do says
// nothing.
void WatchView::on_delivery(const events::DeliveryRecord& delivery, const events::Event& event) {
  const bool went_well = delivery.state == events::DeliveryState::kDelivered;
  if (went_well && (event.change.kind != events::ChangeKind::kAlert || delivery.answer.empty())) return;
  line_.print(delivery_text(delivery, event));
}

bool WatchView::is_time(std::int64_t now_ns) {
  if (now_ns < next_ns_) return false;
  next_ns_ = now_ns + interval_ns_;
  return true;
}

double WatchView::steps_per_second(std::int64_t step, std::int64_t now_ns) {
  recent_.emplace_back(step, now_ns);
  while (recent_.size() > 2 && now_ns - recent_.front().second > kWatchRateWindowNs) recent_.pop_front();
  const auto [first_step, first_ns] = recent_.front();
  return now_ns > first_ns ? static_cast<double>(step - first_step) * 1e9 / static_cast<double>(now_ns - first_ns) : 0;
}

void WatchView::on_progress(Trial& trial, const rules::Engine& engine) {
  const std::int64_t step = trial.last_complete_step();
  const std::int64_t now_ns = system_clock().steady_ns();
  if (chatter_ == Chatter::kVerdicts || step < 0 || !is_time(now_ns)) return;
  const std::string text = progress_text(trial, engine.statuses(), steps_per_second(step, now_ns));
  if (line_.interactive()) return line_.show(text);
  if (step != printed_step_) line_.print(text);
  printed_step_ = step;
}

}  // namespace trainwarden::cli
