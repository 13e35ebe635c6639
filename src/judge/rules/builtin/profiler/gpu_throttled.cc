// GPUThrottled: a GPU is slowed down while it works, or its link to the machine is narrower than it could be.
//
// Source: the driver's reasons for lower clocks (NVML); PCIe links that train at a lower generation or width. Ours: 5 %
// of the samples, the greatest clock that was seen as what could be, and the gain's bounds.
//
// State: for each GPU sums of its metrics (MetricMeter).
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "judge/rules/builtin/profiler/finding.h"
#include "judge/rules/builtin/profiler/metric_meter.h"
#include "judge/rules/builtin/profiler/profiler_rules.h"
#include "judge/rules/parameters.h"

namespace trainwarden::rules {
namespace gpu_throttled_rule {
namespace {

constexpr std::int64_t kWindowNs = 5'000'000'000;
constexpr std::size_t kFewestSamples = 20;
constexpr double kBusyGpu = 0.3;  // a link of an idle GPU saves power
constexpr std::string_view kPowerCap = "gpu.throttled.power_cap";
constexpr std::string_view kThrottled[] = {"gpu.throttled.hardware", "gpu.throttled.thermal_software",
                                           "gpu.throttled.thermal_hardware", "gpu.throttled.power_brake", kPowerCap};
constexpr const char* kCoolIt =
    "Look at the machine's cooling and power (`nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER`), and take another one "
    "until it is mended; gpu.clock.sm rises.";
constexpr const char* kLinkAdvice =
    "Have the card and its slot looked at (`nvidia-smi -q`, PCI), or take another machine: copies to the GPU take "
    "longer over this link.";

class GpuThrottled final : public TimeRule {
 public:
  explicit GpuThrottled(double threshold) : threshold_(threshold) {}

  std::optional<TimeSchedule> schedule() const override {
    return TimeSchedule{{{"^gpu\\.throttled\\.", "^gpu\\.clock\\.sm$", "^gpu\\.utilisation$",
                          "^gpu\\.pcie\\.(generation|width)(\\.max)?$"},
                         {MetricSource::kDevice}},
                        kWindowNs,
                        kWindowNs};
  }

  Verdict evaluate_time(const TimeWindow& window) override {
    meter_.take(window);
    bool is_enough = false;
    std::optional<Verdict> note;
    for (const auto& [key, gpu] : meter_.instances()) {
      const MeteredMetric* const utilisation = find_metric(gpu, "gpu.utilisation");
      if (utilisation == nullptr || utilisation->samples < kFewestSamples) continue;
      is_enough = true;
      if (utilisation->mean() < kBusyGpu) continue;
      auto verdict = of_clocks(key.second, gpu, window);
      if (!verdict) verdict = of_link(key.second, gpu, window);
      if (verdict && verdict->severity != Severity::kInfo) return *verdict;
      if (verdict && !note) note = std::move(verdict);
    }
    if (note) return *note;
    if (!is_enough) {
      return Verdict::insufficient_data(
          fmt::format("{} samples of a GPU's utilisation are waited for", kFewestSamples));
    }
    return Verdict::ok();
  }

 private:
  static Evidence own(std::string_view metric, const char* quantity, double value, double threshold,
                      const TimeWindow& window) {
    Evidence evidence{"", "", quantity, value, threshold, window.last_step};
    evidence.metric = metric;
    evidence.unix_ns = window.to_unix_ns;
    return evidence;
  }

  std::optional<Verdict> of_clocks(const std::string& name, const MeteredInstance& gpu,
                                   const TimeWindow& window) const {
    std::vector<std::string> reasons;
    std::vector<Evidence> evidence;
    double most = 0;
    bool only_power_cap = true;
    for (const std::string_view reason : kThrottled) {
      const MeteredMetric* const metric = find_metric(gpu, reason);
      if (metric == nullptr || metric->samples == 0) continue;
      const double share = static_cast<double>(metric->above_zero) / static_cast<double>(metric->samples);
      if (share <= threshold_) continue;
      reasons.push_back(fmt::format("{} in {:.3g} % of the samples", reason.substr(14), 100 * share));
      evidence.push_back(own(reason, "throttled_share", share, threshold_, window));
      only_power_cap = only_power_cap && reason == kPowerCap;
      most = std::max(most, share);
    }
    if (reasons.empty()) return std::nullopt;
    const MeteredMetric* const clock = find_metric(gpu, "gpu.clock.sm");
    const double lost = clock != nullptr && clock->max > 0 ? std::max(0.0, 1 - clock->mean() / clock->max) : 0;
    const Cost cost = cost_of({lost, 0, lost}, {0.8, 0, 1});
    std::string message = fmt::format(
        "{} is slowed down while it works: {}. Its clock is {:.3g} % below the greatest that was seen; at that, "
        "training is {}, as far as it computes.",
        name, fmt::join(reasons, ", "), 100 * lost, gain_text(cost));
    // A power limit that is reached under load is what it is for.
    return finding(std::move(message), kCoolIt, cost, std::move(evidence), window.last_step,
                   only_power_cap ? Severity::kInfo : Severity::kWarning);
  }

  static std::optional<Verdict> of_link(const std::string& name, const MeteredInstance& gpu, const TimeWindow& window) {
    const MeteredMetric* const generation = find_metric(gpu, "gpu.pcie.generation");
    const MeteredMetric* const width = find_metric(gpu, "gpu.pcie.width");
    const MeteredMetric* const most_generation = find_metric(gpu, "gpu.pcie.generation.max");
    const MeteredMetric* const most_width = find_metric(gpu, "gpu.pcie.width.max");
    if (generation == nullptr || width == nullptr || most_generation == nullptr || most_width == nullptr) return {};
    // The best that was seen while it worked: a link sleeps now and then.
    if (generation->max >= most_generation->last && width->max >= most_width->last) return std::nullopt;
    return finding(
        fmt::format("The link of {} is of generation {:.0f} with {:.0f} lanes; generation {:.0f} with {:.0f} is "
                    "possible.",
                    name, generation->max, width->max, most_generation->last, most_width->last),
        kLinkAdvice, Cost{},
        {own("gpu.pcie.generation", "generation", generation->max, most_generation->last, window),
         own("gpu.pcie.width", "width", width->max, most_width->last, window)},
        window.last_step, Severity::kInfo);
  }

  const double threshold_;
  MetricMeter meter_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const double threshold = read.number("threshold", 0, 1);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new GpuThrottled(threshold));
}

}  // namespace
}  // namespace gpu_throttled_rule

RuleKind gpu_throttled() {
  return {
      {.name = "GPUThrottled",
       .summary = "Fires when a GPU is slowed down while it works; notes a link that is narrower than it could be.",
       .parameters = {{"threshold", "0.05", "part of the samples that may be throttled, from 0 to 1"}},
       .topic = "profiling",
       .details =
           "Of each GPU that is used 30 % of the time and more. Fires when in more than `threshold` of its samples the "
           "driver gives a reason for a lower clock: heat, the hardware, or the power supply. A power limit that is "
           "reached under load is a note, and so is a PCIe link that never was of the generation and width that are "
           "possible.\n\n"
           "Predicted gain: four fifths of what the mean clock lacks of the greatest that was seen; bounds: nothing, "
           "and all of it, since not all work is bound by the clock. Of a link none is predicted.\n\n"
           "Needs the driver's samples of a GPU. One that was slow all the time has no greater clock to compare with. "
           "Evidence: `step_share`, `gain`, `gain_min`, `gain_max`, `throttled_share`, or `generation`, `width`.",
       .source = "the driver's reasons for lower clocks; the limits and the bounds are ours",
       .profiles = true,
       .consequences = {"Straggler"}},
      gpu_throttled_rule::create};
}

}  // namespace trainwarden::rules
