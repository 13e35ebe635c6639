// CPUBottleneck: a GPU waits while a processor is full.
//
// Source: SageMaker Debugger's rule: the share of samples in which a GPU is below one threshold while a core is above
// another. Ours: a process that keeps one processor's worth busy counts too, as the kernel moves threads between cores;
// the gain from the share of that time in which the training waits for data.
//
// State: for each machine, which of the last half seconds were such.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "judge/rules/builtin/profiler/machine_rule.h"
#include "judge/rules/builtin/profiler/profiler_rules.h"
#include "judge/rules/builtin/profiler/recent_values.h"

namespace trainwarden::rules {
namespace cpu_bottleneck_rule {
namespace {

enum Role : std::size_t { kCpu, kCore, kGpu, kUser, kSystem };
constexpr std::size_t kRemembered = 1200;  // ten minutes; at least ten times the patience
constexpr double kFewestTrainingSeconds = 3;
constexpr const char* kAdvice =
    "Move work off the thread that feeds the GPU: more num_workers in the DataLoader, transforms on the GPU, less "
    "Python between kernels (torch.compile, CUDA graphs); `trainwarden phases RUN` says in which part of the step.";

struct Limits {
  double share = 0;
  double gpu = 0;
  double cpu = 0;
  Patience patience;
};

struct OfMachine {
  explicit OfMachine(std::size_t most) : idle(most), bottlenecks(most) {}
  RecentValues idle;         // 1: a GPU was idle
  RecentValues bottlenecks;  // 1: and a processor was full
  std::map<std::string, bool> used;
};

class CpuBottleneck final : public MachineRule {
 public:
  CpuBottleneck(const Limits& limits, std::int64_t cadence_ns)
      : MachineRule({"cpu.busy", "cpu.*.busy", "gpu.utilisation", "process.cpu.user", "process.cpu.system"},
                    cadence_ns),
        limits_(limits),
        remembered_(std::max(kRemembered, 10 * limits.patience.moments)) {}

 private:
  void see(const Moment& moment) override {
    const auto gpus = moment.all(kGpu);
    const auto full = fullest(moment);
    if (gpus.empty()) return;
    has_gpu_ = true;
    OfMachine& machine = machines_.try_emplace(moment.node, remembered_).first->second;
    bool is_idle = false, is_used = false;
    for (const MomentValue& gpu : gpus) {
      bool& used = machine.used[std::string(gpu.part)];
      used = used || gpu.value > 0;
      is_used = is_used || used;
      is_idle = is_idle || (used && 100 * gpu.value < limits_.gpu);
    }
    if (!is_used || !full) return;
    machine.idle.add(is_idle ? 1 : 0);
    machine.bottlenecks.add(is_idle && 100 * *full > limits_.cpu ? 1 : 0);
  }

  // In processors: of a core, or of a process.
  static std::optional<double> fullest(const Moment& moment) {
    std::optional<double> fullest = moment.highest(kCore);
    const auto systems = moment.all(kSystem);
    for (const MomentValue& user : moment.all(kUser)) {
      const auto system = std::find_if(systems.begin(), systems.end(),
                                       [&](const MomentValue& value) { return value.part == user.part; });
      const double both = user.value + (system == systems.end() ? 0 : system->value);
      fullest = std::max(fullest.value_or(0), both);
    }
    return fullest;
  }

  Verdict judge(const TimeWindow& window) override {
    if (!has_gpu_) return Verdict::not_applicable(kNoGpu);
    std::size_t judged = 0, known = 0;
    for (const auto& [node, machine] : machines_) {
      known = std::max(known, machine.bottlenecks.seen());
      if (!limits_.patience.is_over(machine.bottlenecks.seen(), run_ended())) continue;
      ++judged;
      const double share = machine.bottlenecks.mean();
      if (100 * share > limits_.share) return bottleneck(node, machine, share, window);
    }
    if (judged > 0) return Verdict::ok();
    return Verdict::insufficient_data(known_text(known, limits_.patience) + " of a GPU in use and of processors");
  }

  Verdict bottleneck(const std::string& node, const OfMachine& machine, double share, const TimeWindow& window) const {
    const auto own = [&](const char* quantity, double value, double threshold, const char* metric) {
      return Evidence{"", "", quantity, value, threshold, window.last_step, metric, window.to_unix_ns};
    };
    const std::vector<Evidence> evidence = {own("bottleneck_share", share, limits_.share / 100, "gpu.utilisation"),
                                            own("gpu_idle_share", machine.idle.mean(), 0, "gpu.utilisation")};
    std::string message =
        fmt::format("On {} a GPU waits while a processor is full, {:.3g} % of the time.", printable(node), 100 * share);
    if (phases().seconds() < kFewestTrainingSeconds || !phases().has_seen(Phase::kDataWait)) {
      message += fmt::format(
          " Without that the training would be {:.3g} times as fast at most; how much can be had is "
          "not known, since waits for data are not.",
          gain_of_removing(share));
      return bounded_finding(std::move(message), kAdvice, share, gain_of_removing(share), evidence, window.last_step);
    }
    // What is loaded by the thread that trains can be loaded beside it. The rest it has to do itself.
    const double waits = std::min(phases().share(Phase::kDataWait).mean, share);
    Cost cost = cost_of({share, 0, share}, {waits / share, 0, 1});
    message += fmt::format(" For {:.3g} % of the time it waits for data: loading it beside the training makes it {}.",
                           100 * waits, gain_text(cost));
    return finding(std::move(message), kAdvice, cost, evidence, window.last_step);
  }

  const Limits limits_;
  const std::size_t remembered_;
  bool has_gpu_ = false;
  std::map<std::string, OfMachine> machines_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  Limits limits;
  limits.share = read.number("threshold", 0, 100);
  limits.gpu = read.number("gpu_threshold", 0, 100);
  limits.cpu = read.number("cpu_threshold", 0, 100);
  limits.patience = read_patience(read);
  const std::int64_t cadence_ns = read_cadence_ns(read);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new CpuBottleneck(limits, cadence_ns));
}

}  // namespace
}  // namespace cpu_bottleneck_rule

RuleKind cpu_bottleneck() {
  return {
      {.name = "CPUBottleneck",
       .summary = "Fires when a GPU waits while a processor is full.",
       .parameters = {{"threshold", "50", "part of the time in which that is put up with, in %"},
                      {"gpu_threshold", "10", "a GPU below it waits, in %"},
                      {"cpu_threshold", "90", "a processor above it is full, in %"},
                      {"patience", "100", "how long it waits before it judges, in half seconds"},
                      scan_interval_parameter()},
       .topic = "profiling",
       .details =
           std::string(
               "Fires when in more than `threshold` percent of the last ten minutes (ten times `patience`, where that "
               "is longer) a GPU is in use for less than `gpu_threshold` while a processor is busy for more than "
               "`cpu_threshold`, or a process of the training keeps as much as one processor busy.\n\n"
               "Mended of the original: a GPU of one machine and a processor of another were taken together; machines "
               "are judged apart now. Bottlenecks were forgotten after a million samples and the number of samples was "
               "not, which made the share wrong; both are of the last ten minutes now. A thread that the kernel moves "
               "from processor to processor left none full; hence the process. GPUs that were never in use, and the "
               "time before the first step had ended, counted as waiting. The defaults are those of SageMaker's "
               "document of "
               "2023.\n\n") +
           kCountsInHalfSeconds +
           "\n\nThe gain is that of loading data beside the training, where the phases say that it waits for data; its "
           "bounds are none, and that of no idle time at all. Without phases there is only that bound. Without a GPU "
           "it is not applicable. Evidence: `step_share`, `gain`, `gain_min`, `gain_max`, `bottleneck_share`, "
           "`gpu_idle_share`.",
       .source = "SageMaker Debugger, its document of 2023; the process and the gain are ours",
       .profiles = true,
       .consequences = {"LowGPUUtilization"}},
      cpu_bottleneck_rule::create};
}

}  // namespace trainwarden::rules
