#include "ui/views/profile/profile_now.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "read/profile/system_usage.h"
#include "ui/views/profile/profile_span.h"

namespace trainwarden::views {
namespace {

constexpr std::int64_t kLastNs = 15'000'000'000;  // of samples
constexpr std::size_t kLastSteps = 20;
constexpr std::size_t kMostNames = 64;
constexpr std::string_view kPrefixOfPhases = "phase/";

void read_usage(Trial& trial, ProfileNow& now) {
  const ProfileSpan span = profile_span(trial);
  auto usage = profile::system_usage(
      trial, {.from_unix_ns = span.to_unix_ns - kLastNs, .to_unix_ns = span.to_unix_ns, .parts = false});
  if (!usage.ok()) return;
  (void)profile::merge_machines(*usage);
  for (const profile::UsageSeries& series : *usage) {
    now.usage.push_back({std::string(series.kind->name), std::string(series.kind->label),
                         std::string(series.kind->unit), series.instance, series.samples.back().value});
  }
}

void read_phases_of_last_steps(Trial& trial, ProfileNow& now) {
  const std::vector<std::string> workers = trial.workers();
  const auto names = trial.tensor_names({.include = {"^phase/"}});
  if (workers.empty() || !names.ok()) return;
  std::vector<std::int64_t> steps = trial.steps_of("phase/step");
  if (steps.size() > kLastSteps) steps.erase(steps.begin(), steps.end() - static_cast<std::ptrdiff_t>(kLastSteps));
  std::map<std::string, double> sums;
  for (std::size_t i = 0; i < std::min(names->size(), kMostNames); ++i) {
    for (const std::int64_t step : steps) {
      const auto seconds = trial.scalar((*names)[i], step, Mode::kGlobal, workers.front());
      if (!seconds.ok() || !std::isfinite(*seconds) || *seconds < 0) continue;
      sums[(*names)[i].substr(kPrefixOfPhases.size())] += *seconds;
    }
  }
  const double whole = sums["step"];
  if (whole <= 0) return;
  for (const auto& [phase, seconds] : sums) {
    if (phase != "step" && phase != "start" && seconds > 0) now.phases.push_back({phase, seconds / whole});
  }
  std::stable_sort(now.phases.begin(), now.phases.end(),
                   [](const PhaseNow& a, const PhaseNow& b) { return a.share > b.share; });
}

}  // namespace

ProfileNow profile_now(Trial& trial) {
  ProfileNow now;
  read_usage(trial, now);
  read_phases_of_last_steps(trial, now);
  return now;
}

}  // namespace trainwarden::views
