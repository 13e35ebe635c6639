// GPUMemoryIncrease: the memory in use on a GPU rises, by a jump or without end.
//
// Source: SageMaker Debugger's rule: a moving average that rises by so many percent of the memory. Ours: the average is
// compared with that of the time before it, and a slope finds slow leaks (MemorySeries, as in MemoryLeak).
//
// State: for each GPU twice `window` half seconds, and 256 points of the whole run.
#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "judge/rules/builtin/profiler/machine_rule.h"
#include "judge/rules/builtin/profiler/profiler_rules.h"
#include "judge/rules/builtin/profiler/recent_values.h"
#include "judge/rules/builtin/training/memory_series.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace gpu_memory_increase_rule {
namespace {

enum Role : std::size_t { kCpu, kUsed, kTotal };
constexpr double kPercent = 100;
// Of a slow leak: as TraceML's finding of creeping memory.
constexpr GrowthLimits kLeak = {512.0 * 1024 * 1024, 0.06, 0.02};
constexpr const char* kAdvice =
    "Look for what keeps tensors alive from step to step (losses added up without .item(), lists of outputs) and for "
    "batches that become larger; torch.cuda.memory_summary() tells what the allocator holds.";

struct OfGpu {
  explicit OfGpu(std::size_t window) : percents(2 * window), series(kLeak) {}
  std::size_t seen = 0;  // since memory was in use, with the time in which it was warming up
  RecentValues percents;
  MemorySeries series;
  double total_bytes = 0;
};

class GpuMemoryIncrease final : public MachineRule {
 public:
  GpuMemoryIncrease(double increase, std::size_t window, Patience patience, std::int64_t cadence_ns)
      : MachineRule({"cpu.busy", "gpu.memory.used", "gpu.memory.total"}, cadence_ns),
        increase_(increase),
        window_(window),
        patience_(patience) {}

 private:
  using Gpu = std::pair<std::string, std::string>;  // machine, device

  void see(const Moment& moment) override {
    const auto totals = moment.all(kTotal);
    for (const MomentValue& used : moment.all(kUsed)) {
      const auto total =
          std::find_if(totals.begin(), totals.end(), [&](const MomentValue& value) { return value.part == used.part; });
      if (total == totals.end() || !(total->value > 0)) continue;
      OfGpu& gpu = gpus_.try_emplace({moment.node, std::string(used.part)}, window_).first->second;
      if (++gpu.seen <= patience_.moments) continue;  // the framework's allocator fills up
      gpu.total_bytes = total->value;
      gpu.percents.add(kPercent * used.value / total->value);
      gpu.series.add(static_cast<std::int64_t>(gpu.seen), used.value);
    }
  }

  Verdict judge(const TimeWindow& window) override {
    if (gpus_.empty()) return Verdict::not_applicable(kNoGpu);
    std::size_t known = 0, judged = 0;
    for (const auto& [gpu, of_gpu] : gpus_) {
      known = std::max(known, of_gpu.seen);
      if (of_gpu.percents.seen() <= std::max(patience_.moments, std::size_t{1})) continue;
      ++judged;
      Verdict verdict = judge_gpu(gpu, of_gpu, window);
      if (verdict.outcome == Outcome::kFired) return verdict;
    }
    if (judged > 0) return Verdict::ok();
    return Verdict::insufficient_data(known_text(known, {2 * patience_.moments}) + " of the memory of a GPU");
  }

  Verdict judge_gpu(const Gpu& gpu, const OfGpu& of_gpu, const TimeWindow& window) const {
    const std::size_t count = std::min(window_, of_gpu.percents.size() / 2);
    const double after = of_gpu.percents.mean_back(0, count), before = of_gpu.percents.mean_back(count, count);
    const auto leak = of_gpu.series.growth();
    const bool jumped = after - before > increase_;
    if (!jumped && !leak) return Verdict::ok();
    const auto own = [&](const char* quantity, double value, double threshold) {
      return Evidence{"",        gpu.second,       quantity,          value,
                      threshold, window.last_step, "gpu.memory.used", window.to_unix_ns};
    };
    if (jumped) {
      return fired(fmt::format("The memory in use on {} rose by {:.3g} % of what there is, to {:.3g} %: from the mean "
                               "of {:g} s to that of the next. That costs no time; it ends when there is none left.",
                               gpu_text(gpu.first, gpu.second), after - before, after,
                               static_cast<double>(count) / kMomentsASecond),
                   kAdvice, {own("memory_increase", after - before, increase_), own("memory_used", after, 0)},
                   leak ? Severity::kWarning : Severity::kInfo);
    }
    const double a_second = leak->bytes_per_step * kMomentsASecond;
    return fired(fmt::format("The memory in use on {} rises without end: by {} so far, {} a minute. That costs no "
                             "time; at this rate there is none left after {}.",
                             gpu_text(gpu.first, gpu.second), format_bytes(static_cast<std::uint64_t>(leak->bytes)),
                             format_bytes(static_cast<std::uint64_t>(a_second * 60)), time_left(of_gpu, a_second)),
                 kAdvice, {own("memory_growth", leak->bytes, kLeak.least_bytes), own("bytes_a_second", a_second, 0)});
  }

  static std::string time_left(const OfGpu& gpu, double bytes_a_second) {
    const double free = gpu.total_bytes * (1 - gpu.percents.mean_back(0, 1) / kPercent);
    return format_duration_ns(static_cast<std::int64_t>(std::clamp(free / bytes_a_second, 0.0, 1e8) * 1e9));
  }

  const double increase_;
  const std::size_t window_;
  const Patience patience_;
  std::map<Gpu, OfGpu> gpus_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const double increase = read.number("increase", 0, 100);
  const std::size_t window = read_window(read);
  const Patience patience = read_patience(read);
  const std::int64_t cadence_ns = read_cadence_ns(read);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new GpuMemoryIncrease(increase, window, patience, cadence_ns));
}

}  // namespace
}  // namespace gpu_memory_increase_rule

RuleKind gpu_memory_increase() {
  return {{.name = "GPUMemoryIncrease",
           .summary = "Fires when the memory in use on a GPU rises, by a jump or without end.",
           .parameters = {{"increase", "10", "a rise that is put up with, in % of the GPU's memory"},
                          {"window", "500", "over how long means are taken, in half seconds"},
                          {"patience", "100", "how long it leaves the memory time to fill up, in half seconds"},
                          scan_interval_parameter()},
           .topic = "profiling",
           .details =
               std::string(
                   "After `patience` half seconds, in which a framework's allocator fills up, and as many again it "
                   "compares the mean of the memory in use over the window with that of the window before it (of "
                   "half of what is known, where that is less). Fires when it rose by more than `increase` percent of "
                   "the GPU's memory: a note when it stays there. Fires too for a rise without end, however slow: by "
                   "512 MiB and 6 %, which does not level off and never falls by more than 2 %.\n\n"
                   "Mended of the original: its two windows had all samples but two in common, so that a jump had to "
                   "be as many times the threshold as the window has samples; now they have none in common. It "
                   "counted the time in which memory fills up as well. The defaults are those of SageMaker's document "
                   "of 2023.\n\n") +
               "Counts of samples are half seconds, since the service samples twice a second, at whatever rate the "
               "machine was sampled.\n\nIt costs memory and no time, so there is no gain. Without a GPU it is not "
               "applicable; the memory of the training's process is MemoryLeak's. Evidence: `memory_increase` and "
               "`memory_used` in %, or `memory_growth` and `bytes_a_second`.",
           .source = "SageMaker Debugger, its document of 2023; limits of a slow rise as in TraceML",
           .profiles = true},
          gpu_memory_increase_rule::create};
}

}  // namespace trainwarden::rules
