// OverallSystemUsage: how much of each machine was in use. It never fires.
//
// Source: SageMaker Debugger's rule: maximum, 99th, 95th and 50th percentile and minimum for each machine of network,
// GPU, processors, memory, GPU memory and waits for disks. Ours: in bounded memory, so that nothing is forgotten.
//
// State: for each machine and measure a sketch of its distribution.
#include <array>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "judge/rules/builtin/profiler/machine_rule.h"
#include "judge/rules/builtin/profiler/profiler_rules.h"
#include "judge/rules/builtin/profiler/value_sketch.h"

namespace trainwarden::rules {
namespace overall_system_usage_rule {
namespace {

enum Role : std::size_t {
  kCores,
  kCoreWaits,
  kMemoryUsed,
  kMemoryTotal,
  kReceived,
  kSent,
  kGpus,
  kGpuMemoryUsed,
  kGpuMemoryTotal
};

struct Measure {
  const char* name;
  const char* unit;
  double scale;
};
enum : std::size_t { kCpu, kIowait, kMemory, kNetwork, kGpu, kGpuMemory, kMeasures };
constexpr Measure kMeasureTable[kMeasures] = {{"cpu", "%", 100},    {"iowait", "%", 100},
                                              {"memory", "%", 100}, {"network", "bytes/s", 1},
                                              {"gpu", "%", 100},    {"gpu_memory", "%", 100}};

class OverallSystemUsage final : public MachineRule {
 public:
  explicit OverallSystemUsage(std::int64_t cadence_ns)
      : MachineRule({"cpu.*.busy", "cpu.*.iowait", "memory.used", "memory.total", "net.*.received", "net.*.sent",
                     "gpu.utilisation", "gpu.memory.used", "gpu.memory.total"},
                    cadence_ns) {}

 private:
  using OfMachine = std::array<ValueSketch, kMeasures>;

  void see(const Moment& moment) override {
    OfMachine& machine = machines_[moment.node];
    const auto add = [&](std::size_t measure, std::optional<double> value) {
      if (value) machine[measure].add(*value * kMeasureTable[measure].scale);
    };
    add(kCpu, moment.mean(kCores));
    add(kIowait, moment.mean(kCoreWaits));
    add(kMemory, share_of(moment.first(kMemoryUsed), moment.first(kMemoryTotal)));
    const auto received = moment.all(kReceived), sent = moment.all(kSent);
    if (!received.empty() || !sent.empty()) add(kNetwork, sum(received) + sum(sent));
    for (const MomentValue& gpu : moment.all(kGpus)) add(kGpu, gpu.value);
    const auto totals = moment.all(kGpuMemoryTotal);
    for (const MomentValue& used : moment.all(kGpuMemoryUsed)) {
      for (const MomentValue& total : totals) {
        if (total.part == used.part) add(kGpuMemory, share_of(used.value, total.value));
      }
    }
  }

  static double sum(std::span<const MomentValue> values) {
    double sum = 0;
    for (const MomentValue& value : values) sum += value.value;
    return sum;
  }
  static std::optional<double> share_of(std::optional<double> part, std::optional<double> whole) {
    if (!part || !whole || !(*whole > 0)) return std::nullopt;
    return *part / *whole;
  }

  // What the machines did, as an answer that is all right.
  Verdict judge(const TimeWindow& window) override {
    if (machines_.empty()) return Verdict::insufficient_data("no half second of the machine is known yet");
    Verdict verdict = Verdict::ok();
    for (const auto& [node, measures] : machines_) {
      std::string text;
      for (std::size_t i = 0; i < kMeasures; ++i) {
        if (measures[i].count() > 0) describe(node, i, measures[i], window, text, verdict);
      }
      verdict.message += fmt::format("{}{}: {}.", verdict.message.empty() ? "" : " ", printable(node), text);
    }
    return verdict;
  }

  static void describe(const std::string& node, std::size_t measure, const ValueSketch& values,
                       const TimeWindow& window, std::string& text, Verdict& verdict) {
    const auto& [name, unit, scale] = kMeasureTable[measure];
    text +=
        fmt::format("{}{} {:.3g}, {:.3g}, {:.3g}, {:.3g}, {:.3g} {}", text.empty() ? "" : "; ", name, values.lowest(),
                    values.quantile(0.5), values.quantile(0.95), values.quantile(0.99), values.highest(), unit);
    if (verdict.evidence.size() < Verdict::kMaxEvidence) {
      verdict.evidence.push_back(
          {"", node, std::string(name) + "_p95", values.quantile(0.95), 0, window.last_step, "", window.to_unix_ns});
    }
  }

  std::map<std::string, OfMachine> machines_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const std::int64_t cadence_ns = read_cadence_ns(read);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new OverallSystemUsage(cadence_ns));
}

}  // namespace
}  // namespace overall_system_usage_rule

RuleKind overall_system_usage() {
  return {
      {.name = "OverallSystemUsage",
       .summary = "Says how much of each machine was in use; it never fires.",
       .parameters = {scan_interval_parameter()},
       .topic = "profiling",
       .details =
           "Its answer's message has for each machine minimum, 50th, 95th and 99th percentile and maximum, over "
           "half seconds from the end of the first step on: processors, waits for disks, memory, network (all "
           "interfaces, both ways), GPUs (each one a value) and their memory. What was not sampled is not there.\n\n"
           "Mended of the original: it kept every value and forgot all of them after a million; now it keeps the "
           "distributions, right within one percent, for ever. It has no fault to find, so there is no gain. "
           "Evidence: `cpu_p95` and so on, of each machine.",
       .source = "SageMaker Debugger; sketches by Masson et al., DDSketch, 2019",
       .profiles = true},
      overall_system_usage_rule::create};
}

}  // namespace trainwarden::rules
