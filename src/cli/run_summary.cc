#include "cli/run_summary.h"

#include "base/text.h"

namespace trainwarden::cli {

std::optional<LossNow> last_loss(Trial& trial) {
  const auto names = trial.tensor_names({.include = {}, .collection = "losses", .mode = {}, .step = {}});
  if (!names.ok()) return std::nullopt;
  std::optional<LossNow> newest;
  for (const std::string& name : *names) {
    const std::vector<std::int64_t> steps = trial.steps_of(name);
    if (steps.empty() || (newest && steps.back() <= newest->step)) continue;
    const auto value = trial.scalar(name, steps.back());
    if (value.ok()) newest = LossNow{name, steps.back(), *value};
  }
  return newest;
}

std::string status_text(RunState state, const events::RunView& view) {
  std::string text(name(state));
  if (view.table.empty()) return text;
  const events::SecondaryStatus status = view.table.status();
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
