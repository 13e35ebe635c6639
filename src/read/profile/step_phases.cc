#include "read/profile/step_phases.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "read/profile/step_follower.h"

namespace trainwarden::profile {
namespace {

// Whose totals are known over all steps. Writers of before have none of capture.
constexpr std::string_view kTotalled[] = {"data_wait", "data_start", "evaluation", "checkpoint", "capture"};

double total_of(const std::map<std::string, double>& totals, std::string_view name) {
  const auto found = totals.find(std::string(name));
  return found == totals.end() ? 0 : found->second;
}

// Those that are totalled take their share of all steps, the others divide the rest as they do in the divided steps.
void set_shares(WorkerPhases& worker, const std::map<std::string, double>& totals) {
  double totalled = 0, divided_rest = 0;
  for (const std::string_view phase : kTotalled) {
    const double seconds = worker.seconds > 0 ? total_of(totals, phase) : 0;
    if (seconds <= 0) continue;
    totalled += seconds;
    const auto known = std::find_if(worker.phases.begin(), worker.phases.end(),
                                    [&](const PhaseTime& time) { return time.phase == phase; });
    if (known != worker.phases.end()) {
      known->exact = true;
    } else {
      worker.phases.push_back({std::string(phase), 0, 0, true});
    }
  }
  for (const PhaseTime& time : worker.phases) divided_rest += time.exact ? 0 : time.seconds;
  const double rest = worker.seconds > 0 ? std::max(0.0, 1 - totalled / worker.seconds) : 1;
  for (PhaseTime& time : worker.phases) {
    if (worker.seconds <= 0) {
      time.share = time.seconds / worker.divided_seconds;
    } else if (time.exact) {
      time.share = total_of(totals, time.phase) / worker.seconds;
    } else {
      time.share = divided_rest > 0 ? rest * time.seconds / divided_rest : 0;
    }
  }
}

}  // namespace

WorkerPhases divide(const std::string& worker, std::size_t divided_steps, double divided_seconds,
                    const std::map<std::string, double>& phase_seconds, const std::map<std::string, double>& totals) {
  WorkerPhases sums{worker, divided_steps, divided_seconds, total_of(totals, "steps"), total_of(totals, "wall"), {}};
  for (const auto& [phase, seconds] : phase_seconds) {
    if (seconds > 0) sums.phases.push_back({phase, seconds});
  }
  set_shares(sums, totals);
  std::stable_sort(sums.phases.begin(), sums.phases.end(),
                   [](const PhaseTime& a, const PhaseTime& b) { return a.share > b.share; });
  return sums;
}

Result<std::vector<WorkerPhases>> step_phases(Trial& trial, std::int64_t last_step) {
  StepFollower follower;
  TRAINWARDEN_RETURN_IF_ERROR(follower.refresh(trial, last_step));
  return follower.phases();
}

}  // namespace trainwarden::profile
