// LowGPUUtilization: a GPU has little to do, or is at times idle.
//
// Source: SageMaker Debugger's rule: the 95th percentile of the utilisation over a window below a threshold, or above
// it with a 5th percentile below another one. Ours: a GPU that was never in use counts apart, and the gain is bounded
// by the reciprocal of the mean utilisation.
//
// State: for each GPU the `window` newest half seconds.
#include <map>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/profiler/machine_rule.h"
#include "judge/rules/builtin/profiler/profiler_rules.h"
#include "judge/rules/builtin/profiler/recent_values.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace low_gpu_utilization_rule {
namespace {

enum Role : std::size_t { kCpu, kGpu };
constexpr const char* kLowAdvice =
    "See what the training does meanwhile: `trainwarden phases RUN`, and the other findings of --rules profiler; when "
    "neither says more, raise the batch size while samples_per_second rises.";
constexpr const char* kUnusedAdvice =
    "Move model and batches to the device, and look whether the framework finds it (torch.cuda.is_available()).";

struct Limits {
  double p95 = 0;
  double p5 = 0;
  std::size_t window = 0;
  Patience patience;
};

class LowGpuUtilization final : public MachineRule {
 public:
  LowGpuUtilization(const Limits& limits, std::int64_t cadence_ns)
      : MachineRule({"cpu.busy", "gpu.utilisation"}, cadence_ns), limits_(limits) {}

 private:
  using Gpu = std::pair<std::string, std::string>;  // machine, device

  void see(const Moment& moment) override {
    for (const MomentValue& value : moment.all(kGpu)) {
      gpus_.try_emplace({moment.node, std::string(value.part)}, limits_.window).first->second.add(100 * value.value);
    }
  }

  Verdict judge(const TimeWindow& window) override {
    if (gpus_.empty()) return Verdict::not_applicable(kNoGpu);
    const Gpu* worst = nullptr;
    const RecentValues* lowest = nullptr;
    std::size_t known = 0, unused = 0;
    for (const auto& [gpu, values] : gpus_) {
      if (!limits_.patience.is_over(values.seen(), run_ended())) continue;
      ++known;
      if (values.highest() <= 0) {
        ++unused;
        continue;
      }
      const double p95 = values.quantile(0.95);
      const bool is_low = p95 < limits_.p95 || values.quantile(0.05) < limits_.p5;
      if (!is_low || (lowest != nullptr && lowest->mean() <= values.mean())) continue;
      worst = &gpu;
      lowest = &values;
    }
    if (known == 0) {
      return Verdict::insufficient_data(known_text(gpus_.begin()->second.seen(), limits_.patience) +
                                        " of the GPU's utilisation");
    }
    if (lowest != nullptr) return low(*worst, *lowest, window);
    return unused == known ? not_used(window) : Verdict::ok();
  }

  Verdict low(const Gpu& gpu, const RecentValues& values, const TimeWindow& window) const {
    const double p95 = values.quantile(0.95), p5 = values.quantile(0.05), mean = values.mean();
    const bool is_low = p95 < limits_.p95;
    const double gain_max = mean > 1 ? 100 / mean : 100;
    std::string message = fmt::format(
        "{} {}: it is in use {:.3g} % of the time (95th percentile {:.3g} %, 5th {:.3g} %). Were it always in use, the "
        "training would be {:.3g} times as fast, and that is the most; how much of it can be had is not known.",
        gpu_text(gpu.first, gpu.second), is_low ? "has little to do" : "is idle at times", mean, p95, p5, gain_max);
    const auto own = [&](const char* quantity, double value, double threshold) {
      return Evidence{"",        gpu.second,       quantity,          value,
                      threshold, window.last_step, "gpu.utilisation", window.to_unix_ns};
    };
    return bounded_finding(std::move(message), kLowAdvice, 1 - mean / 100, gain_max,
                           {own("gpu_p95", p95, limits_.p95), own("gpu_p5", p5, limits_.p5),
                            own("gpu_max", values.highest(), 0), own("gpu_mean", mean, 0)},
                           window.last_step);
  }

  Verdict not_used(const TimeWindow& window) const {
    const Gpu& gpu = gpus_.begin()->first;
    return fired(fmt::format("No GPU was in use at all, of {} that there are: {}.", gpus_.size(),
                             gpu_text(gpu.first, gpu.second)),
                 kUnusedAdvice,
                 {{"", gpu.second, "gpu_max", 0, limits_.p95, window.last_step, "gpu.utilisation", window.to_unix_ns}},
                 Severity::kInfo);
  }

  const Limits limits_;
  std::map<Gpu, RecentValues> gpus_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  Limits limits;
  limits.p95 = read.number("threshold_p95", 0, 100);
  limits.p5 = read.number("threshold_p5", 0, 100);
  limits.window = read_window(read);
  limits.patience = read_patience(read);
  const std::int64_t cadence_ns = read_cadence_ns(read);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new LowGpuUtilization(limits, cadence_ns));
}

}  // namespace
}  // namespace low_gpu_utilization_rule

RuleKind low_gpu_utilization() {
  return {{.name = "LowGPUUtilization",
           .summary = "Fires when a GPU has little to do, or is idle at times.",
           .parameters = {{"threshold_p95", "70", "95th percentile of the utilisation that is too low, in %"},
                          {"threshold_p5", "10", "5th percentile of the utilisation that is too low, in %"},
                          {"window", "500", "how far it looks back, in half seconds"},
                          {"patience", "100", "how long it waits before it judges, in half seconds"},
                          scan_interval_parameter()},
           .topic = "profiling",
           .details = std::string("Fires for a GPU whose 95th percentile of utilisation over the window is below "
                                  "`threshold_p95`, or whose 5th is below `threshold_p5`. The one with the lowest mean "
                                  "is named.\n\n"
                                  "Mended of the original: a GPU that was never in use counted as one with little to "
                                  "do; now others are judged without it, and when none is in use that is a note. What "
                                  "lies before the end of the first step is left out: a GPU waits while a program "
                                  "starts. `patience` was 1000, more than eight minutes of silence and twice the "
                                  "window; it is 100, as SageMaker's document of 2023 has it for similar rules. The "
                                  "other defaults are those of that document.\n\n") +
                      kCountsInHalfSeconds +
                      "\n\nUtilisation is the share of time in which any kernel ran, be it a small one, as the driver "
                      "says it. There is no predicted gain, as what keeps the GPU waiting is not known here: "
                      "`gain_max` is the reciprocal of the mean utilisation. Without a GPU it is not applicable. "
                      "Evidence: `step_share`, `gain_min`, `gain_max`, `gpu_p95`, `gpu_p5`, `gpu_max`, `gpu_mean`.",
           .source = "SageMaker Debugger, its document of 2023; the bound is ours",
           .profiles = true},
          low_gpu_utilization_rule::create};
}

}  // namespace trainwarden::rules
