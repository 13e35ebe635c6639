#include "ui/cli/reports/run_summary.h"

#include "core/base/text.h"

namespace trainwarden::cli {

std::string status_text(RunState state, const events::RunView& view) {
  return view.table.empty() ? std::string(name(state)) : status_text(state, view.table.status());
}

std::string status_text(RunState state, events::SecondaryStatus status) {
  if (state == RunState::kCompleted && status == events::SecondaryStatus::kFailed) return "failed";
  std::string text(name(state));
  const bool says_the_same = (state == RunState::kRunning && primary_of(status) == events::PrimaryStatus::kInProgress &&
                              status != events::SecondaryStatus::kInterrupted) ||
                             (state == RunState::kCompleted && status == events::SecondaryStatus::kCompleted) ||
                             (state == RunState::kStopped && status == events::SecondaryStatus::kStopped) ||
                             (state == RunState::kDied && status == events::SecondaryStatus::kFailed);
  return says_the_same ? text : text + " (" + std::string(name(status)) + ")";
}

bool is_foreign(const Trial& trial) {
  return trial.recorder() != "trainwarden";
}

std::string age_text(std::int64_t then_unix_ns, std::int64_t now_unix_ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t age_ns = now_unix_ns - then_unix_ns;
  return age_ns < kSecond ? "just now" : format_duration_ns(age_ns) + " ago";
}

}  // namespace trainwarden::cli
