#include "judge/rules/builtin/profiler/machine_use.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "read/profile/rates.h"

namespace trainwarden::rules {
namespace {

constexpr std::int64_t kMostNs = 600'000'000'000;  // so much of the time before the step is looked at
constexpr std::int64_t kFirstAskNs = 1'000'000'000;

// How fast a counter of the machine rose, of the first machine that was sampled.
std::optional<double> rate_over(Trial& trial, std::string_view name, std::int64_t from, std::int64_t to) {
  for (const SampledMetric& metric : trial.metrics()) {
    if (metric.metric.name != name) continue;
    const auto samples = trial.samples(metric, from, to);
    if (!samples.ok() || samples->size() < 2) continue;
    const auto rise = profile::rise_of(*samples);
    const double seconds = static_cast<double>(samples->back().unix_ns - samples->front().unix_ns) / 1e9;
    if (rise && seconds > 0) return *rise / seconds;
  }
  return std::nullopt;
}

std::optional<double> last_of_gauge(Trial& trial, std::string_view name, std::int64_t from, std::int64_t to) {
  for (const SampledMetric& metric : trial.metrics()) {
    if (metric.metric.name != name) continue;
    const auto samples = trial.samples(metric, from, to);
    if (samples.ok() && !samples->empty()) return samples->back().value;
  }
  return std::nullopt;
}

std::optional<MachineUse> read_use(Trial& trial, std::int64_t from, std::int64_t to) {
  const auto processors = last_of_gauge(trial, "cpu.effective", from, to);
  const auto user = rate_over(trial, "tree.cpu.user", from, to);
  const auto system = rate_over(trial, "tree.cpu.system", from, to);
  if (!processors || !user || !system) return std::nullopt;
  MachineUse use{*processors, *user + *system, 0};
  // Of the training's group where the kernel says it, else of the machine.
  auto pressure = rate_over(trial, "cgroup.pressure.io.some", from, to);
  if (!pressure) pressure = rate_over(trial, "pressure.io.some", from, to);
  if (pressure) use.waits_for_disks = std::min(1.0, *pressure);
  return use;
}

std::int64_t end_of_step(const StepWindow& window) {
  const std::vector<std::string> workers = window.workers();
  return workers.empty() ? 0 : window.ended_unix_ns(workers.front());
}

}  // namespace

void MachineUseReader::note(const StepWindow& window) {
  if (from_unix_ns_ == 0) from_unix_ns_ = end_of_step(window);
}

const MachineUse* MachineUseReader::at(const StepWindow& window) {
  Trial* const trial = window.trial();
  const std::int64_t now = end_of_step(window);
  if (trial == nullptr || now == 0) return nullptr;
  note(window);
  if (now >= next_ask_ns_) {
    use_ = read_use(*trial, std::max(from_unix_ns_, now - kMostNs), now);
    next_ask_ns_ = now + std::max(kFirstAskNs, (now - from_unix_ns_) / 4);
  }
  return use_ ? &*use_ : nullptr;
}

}  // namespace trainwarden::rules
