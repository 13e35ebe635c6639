// ThrottledContainer: the control group of the training uses up its quota of processor time, and is kept from running.
//
// Source: the kernel's own counters (Documentation/admin-guide/cgroup-v2.rst, cpu.stat). Ours: the gain. The counter of
// throttled time adds up processors: with a quota of q processors, and P of them that would run, each period has the
// group run for q / P of it, and P - q processors' time is throttled. So P / q = 1 + throttled / used.
//
// State: for each machine the rises of its counters (MetricMeter).
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/profiler/finding.h"
#include "judge/rules/builtin/profiler/metric_meter.h"
#include "judge/rules/builtin/profiler/profiler_rules.h"
#include "judge/rules/parameters.h"

namespace trainwarden::rules {
namespace throttled_container_rule {
namespace {

constexpr std::int64_t kWindowNs = 2'000'000'000;
constexpr std::string_view kThrottled = "cgroup.cpu.throttled";
constexpr std::string_view kThrottledPeriods = "cgroup.cpu.throttled_periods";
constexpr std::string_view kPeriods = "cgroup.cpu.periods";
constexpr std::string_view kUsage = "cgroup.cpu.usage";
constexpr std::string_view kQuota = "cgroup.cpu.quota";
constexpr std::string_view kOnline = "cpu.online";
constexpr double kMostGain = 100;
constexpr const char* kAdvice =
    "Raise the container's limit of processors (docker --cpus, Kubernetes resources.limits.cpu), or start no more "
    "threads and loader workers than it allows; cgroup.cpu.throttled stops rising.";

struct Throttling {
  double periods = 0;  // share of those in which the group ran and its quota was used up
  double seconds = 0;  // that were watched
  double lost = 0;     // processors' time that was throttled, a second
  double used = 0;     // processors
  double quota = 0;    // 0: not known
  double machine = 0;  // processors of the machine; 0: not known
};

class ThrottledContainer final : public TimeRule {
 public:
  ThrottledContainer(double threshold, double least_gain, double least_seconds)
      : threshold_(threshold), least_gain_(least_gain), least_seconds_(least_seconds) {}

  std::optional<TimeSchedule> schedule() const override {
    return TimeSchedule{{{"^cgroup\\.cpu\\.(throttled|throttled_periods|periods|usage|quota)$", "^cpu\\.online$"}, {}},
                        kWindowNs,
                        kWindowNs};
  }

  Verdict evaluate_time(const TimeWindow& window) override {
    meter_.take(window);
    std::optional<Throttling> worst;
    for (const auto& [key, instance] : meter_.instances()) {
      const auto found = throttling_of(instance);
      if (found && (!worst || found->lost > worst->lost)) worst = found;
    }
    if (!worst)
      return Verdict::not_applicable("the control group of the training has no quota, or does not count by it");
    if (worst->seconds < least_seconds_) {
      return Verdict::insufficient_data(fmt::format("{:.3g} s of the control group are known; {:.3g} are waited for",
                                                    worst->seconds, least_seconds_));
    }
    const Cost cost = cost_of_throttling(*worst);
    if (worst->periods < threshold_ || cost.gain < least_gain_) return Verdict::ok();
    return verdict(*worst, cost, window);
  }

 private:
  static std::optional<Throttling> throttling_of(const MeteredInstance& instance) {
    const MeteredMetric* const throttled = find_metric(instance, kThrottled);
    const MeteredMetric* const throttled_periods = find_metric(instance, kThrottledPeriods);
    const MeteredMetric* const periods = find_metric(instance, kPeriods);
    const MeteredMetric* const usage = find_metric(instance, kUsage);
    if (throttled == nullptr || throttled_periods == nullptr || periods == nullptr || usage == nullptr) return {};
    const double seconds = std::min(throttled->seconds, usage->seconds);
    if (!(seconds > 0) || !(periods->rise > 0)) return Throttling{};
    Throttling found;
    found.periods = throttled_periods->rise / periods->rise;
    found.seconds = seconds;
    found.lost = throttled->rise / throttled->seconds;
    found.used = usage->rise / usage->seconds;
    if (const MeteredMetric* const quota = find_metric(instance, kQuota)) found.quota = quota->last;
    if (const MeteredMetric* const online = find_metric(instance, kOnline)) found.machine = online->last;
    return found;
  }

  // At the least only one processor's worth of threads was kept waiting, all of them at once.
  static Cost cost_of_throttling(const Throttling& found) {
    Cost cost;
    if (!(found.used > 0)) return cost;
    const double gain = 1 + found.lost / found.used;
    cost.gain_max = std::min(gain, kMostGain);
    // No training runs on more processors than there are.
    const double limit = found.machine > 0 ? std::max(1.0, found.machine / found.used) : kMostGain;
    cost.gain = std::clamp(gain, 1.0, std::min(limit, kMostGain));
    cost.gain_max = std::max(cost.gain, cost.gain_max);
    const double processors = std::max(1.0, found.machine);
    cost.gain_min = std::min(cost.gain, gain_of_removing(std::min(found.lost / processors, found.periods)));
    cost.step_share = 1 - 1 / cost.gain;
    return cost;
  }

  Verdict verdict(const Throttling& found, const Cost& cost, const TimeWindow& window) const {
    std::string message = fmt::format(
        "The control group of the training used up its quota of processor time in {:.3g} % of the periods{}: it used "
        "{:.2g} processors and was kept from {:.2g} more. Without the quota, training is {}, if the machine has them "
        "free.",
        100 * found.periods, found.quota > 0 ? fmt::format(" ({:.3g} processors)", found.quota) : "", found.used,
        found.lost, gain_text(cost));
    const auto own = [&](std::string_view metric, const char* quantity, double value, double threshold) {
      Evidence evidence{"", "", quantity, value, threshold, window.last_step};
      evidence.metric = metric;
      evidence.unix_ns = window.to_unix_ns;
      return evidence;
    };
    return finding(std::move(message), kAdvice, cost,
                   {own(kThrottledPeriods, "throttled_periods_share", found.periods, threshold_),
                    own(kThrottled, "throttled_processors", found.lost, 0),
                    own(kUsage, "used_processors", found.used, 0), own(kQuota, "quota_processors", found.quota, 0)},
                   window.last_step);
  }

  const double threshold_;
  const double least_gain_;
  const double least_seconds_;
  MetricMeter meter_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const double threshold = read.number("threshold", 0, 1);
  const double least_gain = read.number("min_gain", 1);
  const double least_seconds = read.number("min_seconds", 0);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new ThrottledContainer(threshold, least_gain, least_seconds));
}

}  // namespace
}  // namespace throttled_container_rule

RuleKind throttled_container() {
  return {
      {.name = "ThrottledContainer",
       .summary = "Fires when the training's container uses up its quota of processor time and is kept from running.",
       .parameters = {{"threshold", "0.1", "part of the quota's periods that may be used up, from 0 to 1"},
                      {"min_gain", "1.1", "a smaller predicted gain is put up with, as a ratio"},
                      {"min_seconds", "2", "seconds that must have been watched"}},
       .topic = "profiling",
       .details =
           "Adds up `cgroup.cpu.periods`, `throttled_periods`, `throttled` and `usage` over the time that was sampled. "
           "Fires when at least `threshold` of the periods in which the group ran had their quota used up, and the "
           "predicted gain is at least `min_gain`.\n\n"
           "Predicted gain: 1 + throttled / used. With a quota of q processors and P that would run, the group runs "
           "for q / P of each period, and P - q processors' time is throttled. It assumes that all of them would have "
           "had work, and that the machine has them free; no more than the machine has counts. Bound below: as if all "
           "processors of the machine had been throttled at once. `step_share` is 1 - 1 / gain.\n\n"
           "Needs samples of the training's control group (version 1 or 2) with a quota. Evidence: `step_share`, "
           "`gain`, `gain_min`, `gain_max`, `throttled_periods_share`, `throttled_processors`, `used_processors`, "
           "`quota_processors`.",
       .source = "the kernel's counters of a control group's processor time; the gain is ours",
       .profiles = true,
       .consequences = {"BatchSize", "CPUBottleneck", "Dataloader", "LowGPUUtilization", "InputBound", "StepOutlier",
                        "Straggler", "OptimizerHeavy", "SmallKernels", "LongEvaluation", "CheckpointStalls",
                        "HiddenSynchronisation", "CommunicationNotOverlapped", "SlowStart"}},
      throttled_container_rule::create};
}

}  // namespace trainwarden::rules
