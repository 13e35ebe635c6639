// Roofline: does a GPU compute, does it move data, or neither? A note.
//
// Source: the roofline model (Williams et al. 2009): work is bound by arithmetic or by memory. Here by the shares of
// time in which a GPU's tensor cores and its memory are at work, as its counters have them; the limits are those of
// XProf (50 % and 70 %). Ours: that it is neither, when both are low while the GPU is in use.
//
// State: for each GPU sums of its metrics (MetricMeter).
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/profiler/finding.h"
#include "judge/rules/builtin/profiler/metric_meter.h"
#include "judge/rules/builtin/profiler/profiler_rules.h"
#include "judge/rules/parameters.h"

namespace trainwarden::rules {
namespace roofline_rule {
namespace {

constexpr std::int64_t kWindowNs = 10'000'000'000;
constexpr std::size_t kFewestSamples = 20;
constexpr double kBound = 0.7;
constexpr double kLow = 0.5;
constexpr double kInUse = 0.7;

class Roofline final : public TimeRule {
 public:
  std::optional<TimeSchedule> schedule() const override {
    return TimeSchedule{{{"^gpu\\.(tensor|dram|sm)\\.activity$", "^gpu\\.utilisation$"}, {MetricSource::kDevice}},
                        kWindowNs,
                        kWindowNs};
  }

  Verdict evaluate_time(const TimeWindow& window) override {
    meter_.take(window);
    bool has_counters = false;
    for (const auto& [key, gpu] : meter_.instances()) {
      const MeteredMetric* const tensor = find_metric(gpu, "gpu.tensor.activity");
      const MeteredMetric* const dram = find_metric(gpu, "gpu.dram.activity");
      if (tensor == nullptr || dram == nullptr) continue;
      has_counters = true;
      if (std::min(tensor->samples, dram->samples) < kFewestSamples) continue;
      const MeteredMetric* const utilisation = find_metric(gpu, "gpu.utilisation");
      return of_gpu(key.second, tensor->mean(), dram->mean(), utilisation == nullptr ? 0 : utilisation->mean(), window);
    }
    if (!has_counters) {
      return Verdict::not_applicable("the GPU does not count how busy its tensor cores and its memory are");
    }
    return Verdict::insufficient_data(fmt::format("{} samples of a GPU's counters are waited for", kFewestSamples));
  }

 private:
  static Verdict of_gpu(const std::string& name, double tensor, double dram, double utilisation,
                        const TimeWindow& window) {
    const auto own = [&](const char* metric, const char* quantity, double value, double threshold) {
      Evidence evidence{"", "", quantity, value, threshold, window.last_step};
      evidence.metric = metric;
      evidence.unix_ns = window.to_unix_ns;
      return evidence;
    };
    const std::vector<Evidence> evidence = {own("gpu.tensor.activity", "tensor_activity", tensor, kBound),
                                            own("gpu.dram.activity", "dram_activity", dram, kBound)};
    const std::string numbers =
        fmt::format("tensor cores at work {:.3g} % of the time, memory {:.3g} %", 100 * tensor, 100 * dram);
    const auto note = [&](std::string message, std::string advice) {
      return finding(std::move(message), std::move(advice), Cost{}, evidence, window.last_step, Severity::kInfo);
    };
    if (dram >= kBound && dram >= tensor) {
      return note(
          fmt::format("{} is bound by its memory: {}.", name, numbers),
          "Move fewer bytes: bf16 in place of float32, fused layers and optimizers (torch.compile), larger tiles; "
          "more arithmetic would be for free.");
    }
    if (tensor >= kBound) {
      return note(fmt::format("{} is bound by arithmetic, as it should be: {}.", name, numbers),
                  "Only less arithmetic or lower precision makes it faster.");
    }
    if (utilisation >= kInUse && tensor < kLow && dram < kLow) {
      return note(
          fmt::format("{} is in use {:.3g} % of the time, and is bound neither by arithmetic nor by memory: {}.", name,
                      100 * utilisation, numbers),
          "Let matrix products use the tensor cores (bf16 or TF32, sizes that are multiples of 8), and give it "
          "larger batches.");
    }
    Verdict verdict = Verdict::ok();
    verdict.message = fmt::format("{}: {}.", name, numbers);
    verdict.evidence = evidence;
    return verdict;
  }

  MetricMeter meter_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters&) {
  return std::unique_ptr<Rule>(new Roofline());
}

}  // namespace
}  // namespace roofline_rule

RuleKind roofline() {
  return {
      {.name = "Roofline",
       .summary = "Notes whether a GPU is bound by arithmetic, by its memory, or by neither.",
       .topic = "profiling",
       .details =
           "From the means of `gpu.tensor.activity` and `gpu.dram.activity`: bound by memory or by arithmetic from 70 "
           "% on, by neither where both are below 50 % while the GPU is in use 70 % of the time. Always a note, never "
           "an issue, and without a predicted gain.\n\n"
           "Needs counters of the GPU that there are since Hopper. Arithmetic outside of the tensor cores is not "
           "seen. Evidence: `tensor_activity`, `dram_activity`.",
       .source = "the roofline model (Williams, Waterman and Patterson 2009), with the limits of XProf",
       .profiles = true},
      roofline_rule::create};
}

}  // namespace trainwarden::rules
