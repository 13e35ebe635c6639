#include "react/watch/common_step.h"

#include <algorithm>
#include <string>
#include <vector>

#include "read/trial/trial_access.h"

namespace trainwarden::watch {
namespace {

constexpr std::int64_t kHearingNs = 1'000'000'000;
constexpr std::int64_t kLeastMargin = 2;
// A training that stands still is not to be asked for a step that is days away.
constexpr std::int64_t kLongestSilenceNs = 60'000'000'000;
constexpr std::size_t kMeasuredSteps = 20;

}  // namespace

RunPace pace_of(const Trial& trial) {
  const std::vector<std::int64_t> steps = trial.steps(Mode::kGlobal, true);
  RunPace pace;
  if (steps.empty()) return pace;
  pace.newest_step = steps.back();
  const std::int64_t earlier = steps[steps.size() - std::min(steps.size(), kMeasuredSteps)];
  for (const std::string& worker : trial.workers()) {
    const std::int64_t newest_ns = TrialAccess::step_unix_ns(trial, worker, pace.newest_step);
    const std::int64_t earlier_ns = TrialAccess::step_unix_ns(trial, worker, earlier);
    pace.newest_unix_ns = std::max(pace.newest_unix_ns, newest_ns);
    if (newest_ns <= earlier_ns || earlier_ns <= 0 || pace.newest_step <= earlier) continue;
    pace.step_ns = std::max<std::int64_t>(1, (newest_ns - earlier_ns) / (pace.newest_step - earlier));
  }
  return pace;
}

std::int64_t first_common_step(const RunPace& pace, std::int64_t now_unix_ns) {
  std::int64_t margin = kLeastMargin;
  if (pace.step_ns > 0) {
    const std::int64_t silence = std::clamp<std::int64_t>(now_unix_ns - pace.newest_unix_ns, 0, kLongestSilenceNs);
    margin += (silence + kHearingNs) / pace.step_ns;
  }
  return pace.newest_step + margin;
}

}  // namespace trainwarden::watch
