#include "cli/watch_view.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/rule_report.h"
#include "cli/run_summary.h"
#include "cli/table.h"

namespace trainwarden::cli {
namespace {

constexpr std::int64_t kTerminalIntervalNs = 100'000'000;
constexpr std::int64_t kPipeIntervalNs = 5'000'000'000;
constexpr std::int64_t kRateWindowNs = 5'000'000'000;

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
  std::string text = rules::step_text(rules::place_of(trial, step));
  if (steps_per_second > 0) text += fmt::format("  {:.1f} steps/s", steps_per_second);
  if (const auto loss = last_loss(trial)) text += fmt::format("  loss {}", format_number(loss->value));
  return text + "  rules: " + rules_text(statuses);
}

WatchView::WatchView(std::FILE* stream, Chatter chatter)
    : line_(stream, terminal_of(stream)),
      chatter_(chatter),
      interval_ns_(line_.interactive() ? kTerminalIntervalNs : kPipeIntervalNs) {}

void WatchView::on_verdict(const rules::VerdictRecord& verdict) {
  const bool failed = verdict.verdict.outcome == Outcome::kError;
  const std::string what =
      failed ? fmt::format("{} failed at {}", printable(verdict.rule_id), rules::step_text(verdict.place))
             : fired_text(verdict);
  line_.print(fmt::format("{}: {}", what, printable(verdict.verdict.message)));
}

void WatchView::on_action(const actions::by_verdict::ActionOutcome& outcome) {
  if (outcome.status.ok()) {
    line_.print(fmt::format("action {}: accepted after {}", outcome.action, format_duration_ns(outcome.duration_ns)));
  } else {
    line_.print(fmt::format("action {}: {}", outcome.action, printable(outcome.status.message())));
  }
}

bool WatchView::is_time(std::int64_t now_ns) {
  if (now_ns < next_ns_) return false;
  next_ns_ = now_ns + interval_ns_;
  return true;
}

double WatchView::steps_per_second(std::int64_t step, std::int64_t now_ns) {
  recent_.emplace_back(step, now_ns);
  while (recent_.size() > 2 && now_ns - recent_.front().second > kRateWindowNs) recent_.pop_front();
  const auto [first_step, first_ns] = recent_.front();
  return now_ns > first_ns ? static_cast<double>(step - first_step) * 1e9 / static_cast<double>(now_ns - first_ns) : 0;
}

void WatchView::on_progress(Trial& trial, const rules::Engine& engine) {
  const std::int64_t step = trial.last_complete_step();
  const std::int64_t now_ns = system_clock().steady_ns();
  if (chatter_ == Chatter::kVerdicts || step < 0 || !is_time(now_ns)) return;
  const std::string text = progress_text(trial, engine.statuses(), steps_per_second(step, now_ns));
  if (line_.interactive()) return line_.show(text);
  if (step != told_step_) line_.print(text);
  told_step_ = step;
}

}  // namespace trainwarden::cli
