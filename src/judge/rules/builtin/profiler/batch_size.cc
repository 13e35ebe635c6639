// BatchSize: the batches are too small for the machine.
//
// Source: SageMaker Debugger's rule: the 95th percentiles of the use of processors, of a GPU and of its memory are all
// below a threshold. Ours: a training that waits for its data or saves is no case of small batches; and without a GPU,
// the part of a step that is the same whatever the size of the batch.
//
// State: for each machine and GPU the `window` newest half seconds.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "judge/rules/builtin/profiler/machine_rule.h"
#include "judge/rules/builtin/profiler/profiler_rules.h"
#include "judge/rules/builtin/profiler/recent_values.h"
#include "judge/rules/builtin/profiler/step_overhead.h"
#include "judge/rules/builtin/training/signal_reading.h"
#include "judge/rules/needs.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace batch_size_rule {
namespace {

enum Role : std::size_t { kCpu, kCore, kUser, kSystem, kEffective, kGpu, kGpuUsed, kGpuTotal };
constexpr Phase kWaits[] = {Phase::kDataWait, Phase::kDataStart, Phase::kEvaluation, Phase::kCheckpoint};
constexpr double kMostWaits = 0.3;  // of the train steps: then it is not the batches
constexpr double kLarger = 16;      // times the batch, for which the gain is predicted
constexpr double kLargerAtLeast = 4;
constexpr double kFewestSeconds = 3;  // of train steps
constexpr const char* kBatchSize = "trainwarden/batch/size";
constexpr const char* kAdvice =
    "Double the batch size as long as trainwarden/samples_per_second rises (with it, usually, the learning rate), and "
    "see whether it learns as well.";

struct Limits {
  double cpu = 0;       // percent
  double gpu = 0;       // percent
  double memory = 0;    // percent
  double overhead = 0;  // percent
  std::size_t window = 0;
  Patience patience;
};

struct OfGpu {
  explicit OfGpu(std::size_t window) : use(window), memory(window) {}
  RecentValues use, memory;  // percent
};

struct OfMachine {
  explicit OfMachine(std::size_t window) : cores(window), training(window) {}
  RecentValues cores;     // percent of its processors
  RecentValues training;  // percent of those that the training may use
  double processors = 0;  // that the training may use; 0: not known
  std::map<std::string, OfGpu> gpus;
};

class BatchSize final : public MachineRule {
 public:
  BatchSize(const Limits& limits, std::int64_t cadence_ns)
      : MachineRule({"cpu.busy", "cpu.*.busy", "tree.cpu.user", "tree.cpu.system", "cpu.effective", "gpu.utilisation",
                     "gpu.memory.used", "gpu.memory.total"},
                    cadence_ns),
        limits_(limits) {}

  std::vector<Collection> needs() const override { return {need_signals(), need_values("scalars", 1)}; }

 private:
  void see(const Moment& moment) override {
    OfMachine& machine = machines_.try_emplace(moment.node, limits_.window).first->second;
    if (const auto cores = moment.mean(kCore)) machine.cores.add(100 * *cores);
    const auto user = moment.first(kUser), system = moment.first(kSystem), processors = moment.first(kEffective);
    if (user && system && processors && *processors > 0) {
      machine.training.add(100 * (*user + *system) / *processors);
      machine.processors = *processors;
    }
    see_gpus(moment, machine);
  }

  void see_gpus(const Moment& moment, OfMachine& machine) const {
    const auto part = [&](Role role, std::string_view name) -> std::optional<double> {
      for (const MomentValue& value : moment.all(role)) {
        if (value.part == name) return value.value;
      }
      return std::nullopt;
    };
    for (const MomentValue& use : moment.all(kGpu)) {
      const auto used = part(kGpuUsed, use.part), total = part(kGpuTotal, use.part);
      if (!used || !total || !(*total > 0)) continue;
      OfGpu& gpu = machine.gpus.try_emplace(std::string(use.part), limits_.window).first->second;
      gpu.use.add(100 * use.value);
      gpu.memory.add(100 * *used / *total);
    }
  }

  void see_step(const StepWindow& window) override {
    if (worker_.empty() && !phases().newest().empty()) worker_ = phases().newest().begin()->first;
    const auto sizes = scalar_signals(window, kBatchSize);
    if (!sizes.signals.empty()) batch_size_ = sizes.signals.front().value;
  }

  Verdict judge(const TimeWindow& window) override {
    std::size_t known = 0;
    bool has_gpu = false;
    for (const auto& [node, machine] : machines_) {
      known = std::max(known, machine.cores.seen());
      for (const auto& [name, gpu] : machine.gpus) has_gpu = has_gpu || gpu.use.highest() > 0;
    }
    if (!limits_.patience.is_over(known, run_ended())) {
      return Verdict::insufficient_data(known_text(known, limits_.patience) + " of the processors");
    }
    if (phases().seconds() >= kFewestSeconds && phases().share(kWaits).mean > kMostWaits) return Verdict::ok();
    return has_gpu ? judge_gpus(window) : judge_processors(window);
  }

  Verdict judge_gpus(const TimeWindow& window) const {
    for (const auto& [node, machine] : machines_) {
      double highest_use = 0, highest_memory = 0, mean_use = 0;
      std::string busiest;
      for (const auto& [name, gpu] : machine.gpus) {
        if (gpu.use.highest() <= 0 || !limits_.patience.is_over(gpu.use.seen(), run_ended())) continue;
        mean_use = std::max(mean_use, gpu.use.mean());
        highest_memory = std::max(highest_memory, gpu.memory.quantile(0.95));
        if (!busiest.empty() && gpu.use.quantile(0.95) <= highest_use) continue;
        busiest = name;
        highest_use = gpu.use.quantile(0.95);
      }
      const double cpu = machine.cores.size() > 0 ? machine.cores.quantile(0.95) : 100;
      if (busiest.empty() || cpu >= limits_.cpu || highest_use >= limits_.gpu || highest_memory >= limits_.memory)
        continue;
      return small_on_gpu(node, busiest, cpu, highest_use, highest_memory, mean_use, window);
    }
    return Verdict::ok();
  }

  Verdict small_on_gpu(const std::string& node, const std::string& gpu, double cpu, double use, double memory,
                       double mean_use, const TimeWindow& window) const {
    const auto own = [&](const char* quantity, double value, double threshold, const char* metric) {
      return Evidence{"", "", quantity, value, threshold, window.last_step, metric, window.to_unix_ns};
    };
    const double gain_max = 100 / std::max(mean_use, 1.0);
    return bounded_finding(
        fmt::format(
            "There is room for larger batches{}: processors, {} and its memory are in use for less than {:.3g}, "
            "{:.3g} and {:.3g} % in 95 of 100 half seconds. The training would be {:.3g} times as fast at "
            "most; how much can be had is not known from that.",
            size_text(), gpu_text(node, gpu), cpu, use, memory, gain_max),
        kAdvice, 1 - mean_use / 100, gain_max,
        {own("cpu_p95", cpu, limits_.cpu, "cpu.*.busy"), own("gpu_p95", use, limits_.gpu, "gpu.utilisation"),
         own("gpu_memory_p95", memory, limits_.memory, "gpu.memory.used")},
        window.last_step);
  }

  std::string size_text() const { return batch_size_ ? fmt::format(" than {:g} samples", *batch_size_) : ""; }

  // Without a GPU in use.
  Verdict judge_processors(const TimeWindow& window) {
    if (machines_.size() > 1) {
      return Verdict::not_applicable(
          "no GPU is in use, and of several machines it is not known which worker runs on which");
    }
    const OfMachine& machine = machines_.begin()->second;
    if (machine.training.size() == 0) {
      return Verdict::not_applicable("no GPU is in use, and neither tree.cpu.user nor cpu.effective was sampled");
    }
    const double used = machine.training.quantile(0.95);
    // Who has less than one is kept from running, and a step takes longer for that.
    if (machine.processors < 1 || (machine.processors > 1 && used >= limits_.cpu)) return Verdict::ok();
    if (worker_.empty()) return Verdict::not_applicable("no GPU is in use, and no phases of steps were captured");
    if (!overhead_) {
      const auto measured = step_overhead(window.trial, worker_);
      if (!measured.ok()) return Verdict::insufficient_data(measured.status().to_string());
      overhead_ = *measured;
    }
    if (!overhead_) {
      return Verdict::insufficient_data(
          "no GPU is in use, and of no step the operators were recorded (`trainwarden profile RUN --steps 10`)");
    }
    if (100 * overhead_->least_share() < limits_.overhead) return Verdict::ok();
    return small_on_processors(used, window);
  }

  Verdict small_on_processors(double used, const TimeWindow& window) const {
    const double waits = phases().share(kWaits).mean;
    // With a batch `larger` times as large the fixed part is paid once for all of it. Waits stay as they are.
    const auto gain_of = [&](double fixed, double larger) {
      const double of_step = std::min(1.0, fixed / overhead_->wall) * (1 - waits);
      return gain_of_removing(of_step * (1 - 1 / larger));
    };
    Cost cost = {overhead_->share() * (1 - waits), gain_of(overhead_->fixed, kLarger),
                 gain_of(overhead_->fixed_low, kLargerAtLeast), gain_of(overhead_->fixed_high, 1e9)};
    const auto own = [&](const char* quantity, double value, double threshold) {
      return Evidence{"", "", quantity, value, threshold, window.last_step};
    };
    std::string message = fmt::format(
        "The batches{} are small: {:.3g} % of a step is the same for any number of samples (the optimizer, {:.0f} "
        "calls of operators of {} each, and {} between them). With batches {:g} times as large the training is, in "
        "samples, {}.",
        batch_size_ ? fmt::format(" of {:g} samples", *batch_size_) : "", 100 * overhead_->share(), overhead_->calls,
        format_duration_ns(static_cast<std::int64_t>(overhead_->call * 1e9)),
        format_duration_ns(static_cast<std::int64_t>(overhead_->between * 1e9)), kLarger, gain_text(cost));
    return finding(std::move(message), kAdvice, cost,
                   {own("overhead_share", overhead_->share(), 0),
                    own("overhead_share_min", overhead_->least_share(), limits_.overhead / 100),
                    own("calls", overhead_->calls, 0), own("call_seconds", overhead_->call, 0),
                    own("between_seconds", overhead_->between, 0), own("processors_p95", used, limits_.cpu)},
                   window.last_step);
  }

  const Limits limits_;
  std::map<std::string, OfMachine> machines_;
  std::string worker_;  // the first that has phases
  std::optional<double> batch_size_;
  std::optional<StepOverhead> overhead_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  Limits limits;
  limits.cpu = read.number("cpu_threshold_p95", 0, 100);
  limits.gpu = read.number("gpu_threshold_p95", 0, 100);
  limits.memory = read.number("gpu_memory_threshold_p95", 0, 100);
  limits.overhead = read.number("overhead_threshold", 0, 100);
  limits.window = read_window(read);
  limits.patience = read_patience(read);
  const std::int64_t cadence_ns = read_cadence_ns(read);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new BatchSize(limits, cadence_ns));
}

}  // namespace
}  // namespace batch_size_rule

RuleKind batch_size() {
  return {
      {.name = "BatchSize",
       .summary = "Fires when the batches are too small for the machine.",
       .parameters = {{"cpu_threshold_p95", "70", "95th percentile of the use of processors that is low, in %"},
                      {"gpu_threshold_p95", "70", "95th percentile of the use of a GPU that is low, in %"},
                      {"gpu_memory_threshold_p95", "70", "95th percentile of the GPU memory in use that is low, in %"},
                      {"overhead_threshold", "50",
                       "without a GPU: part of a step that may be the same for any batch, in %"},
                      {"window", "500", "how far it looks back, in half seconds"},
                      {"patience", "100", "how long it waits before it judges, in half seconds"},
                      scan_interval_parameter()},
       .topic = "profiling",
       .details =
           std::string(
               "With a GPU: fires when over the window the 95th percentiles of the use of processors (mean over the "
               "cores), of each GPU that is in use, and of its memory are all below their thresholds. Its gain is "
               "bounded by the reciprocal of the GPU's mean use.\n\n"
               "Without a GPU in use: fires when the 95th percentile of the processors that the training uses is below "
               "`cpu_threshold_p95` of those that it may use (of a single one that does not count, and of less than "
               "one nothing is said), and at least `overhead_threshold` percent of a step are the same for any number "
               "of samples: the optimizer, the time between operators, and of each call as much as the median call "
               "takes (5 µs at most). That is measured in the steps whose operators were recorded. The gain is that of "
               "batches 16 times as large, in samples a second, when of each call 20 µs of its own time are the same; "
               "its bounds: batches 4 times as large with no more for a call than the median one takes, and batches "
               "without limit with 40 µs for a call.\n\n"
               "Neither when the training waits for data, evaluates or saves for more than 30 % of its steps: that is "
               "not the batches.\n\n"
               "Mended of the original: the use of processors was divided by the number of cores of all machines, "
               "which is wrong where machines differ; each has its own now. A training that waits for its data was "
               "told to have larger batches. It waited for a whole window before it judged; `patience` says so now. "
               "The defaults are "
               "those of SageMaker's document of 2023.\n\n") +
           kCountsInHalfSeconds +
           "\n\nWhether a larger batch learns as well it cannot know. Evidence: `step_share`, `gain`, `gain_min`, "
           "`gain_max`, `overhead_share`, `overhead_share_min`, `calls`, `call_seconds`, `between_seconds`, "
           "`processors_p95`; with a GPU "
           "`cpu_p95`, `gpu_p95`, `gpu_memory_p95`.",
       .source = "SageMaker Debugger, its document of 2023; the part of a step that is fixed is ours",
       .profiles = true,
       .consequences = {"LowGPUUtilization", "OptimizerHeavy", "SmallKernels"}},
      batch_size_rule::create};
}

}  // namespace trainwarden::rules
