// IOBottleneck: the training waits for a disk.
//
// Source: SageMaker Debugger's rule: the share of samples in which a GPU is below one threshold while a core waits for
// disks above another. Ours: what the training loses is its waits for data and for checkpoints that go with a disk that
// others wait for, too, moment by moment; that needs no GPU.
//
// State: for each machine ten minutes of half seconds; of the workers' waits what is newer than the moments, and sums.
#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "judge/rules/builtin/profiler/machine_rule.h"
#include "judge/rules/builtin/profiler/profiler_rules.h"
#include "judge/rules/builtin/profiler/recent_values.h"

namespace trainwarden::rules {
namespace io_bottleneck_rule {
namespace {

enum Role : std::size_t { kCpu, kCoreWait, kGroupPressure, kPressure, kGpu, kRead, kDisk, kCoreBusy };
constexpr std::size_t kRemembered = 1200;          // half seconds; at least ten times the patience
constexpr std::size_t kMostWaits = 4096;           // that wait for their moments
constexpr std::int64_t kShortestNs = 250'000'000;  // of what waits are summed up over
constexpr double kForgetAfter = 1200;              // seconds of train steps; then all sums are halved
constexpr double kSomePressure = 0.05;             // below it nobody waits for a disk
constexpr const char* kDataAdvice =
    "Read less, or from something faster: copy the data to a local disk or into memory first, keep it in few large "
    "files, read ahead; more loader workers only queue at a disk that is busy all the time.";
constexpr const char* kCheckpointAdvice =
    "Save less often, to a faster disk, or in the background; phase/checkpoint falls by as much.";

struct Limits {
  double share = 0;       // percent of samples, by the original's formula
  double gpu = 0;         // percent
  double io = 0;          // percent
  double least_loss = 0;  // share of the time of train steps
  Patience patience;
};

// Waits of one worker between two of its steps, in seconds.
struct Waits {
  std::int64_t from_unix_ns = 0;
  std::int64_t to_unix_ns = 0;
  double wall = 0;
  double data = 0;
  double checkpoint = 0;
};

// How much of a moment some task waited for a disk.
struct DiskPressure {
  double expected = 0;
  double least = 0;
};

// The kernel means pressure over the processors, each by the time in which it was not idle (kernel/sched/psi.c). A task
// that waits all the time counts for a half where another processor is busy. So what it tells is what there was at
// least, and that times the processors that were not idle what there was at most; in between, their geometric mean. A
// processor that waits for a disk is one for which a task waits, too.
DiskPressure pressure_of(double told, double core_wait, double processors) {
  const double least = std::max(told, core_wait);
  const double most = std::max(least, std::min(1.0, told * std::max(1.0, processors)));
  return {std::sqrt(least * most), least};
}

struct DiskMoment {
  std::int64_t from_unix_ns = 0;
  DiskPressure pressure;
  bool reads = true;  // the training read from a disk; true where that is not known
};

// Sums over the steps that were judged, in seconds.
struct Lost {
  double wall = 0, data = 0, checkpoint = 0, least = 0, most = 0, waited = 0, pressed = 0;
  double expected() const { return data + checkpoint; }

  void add(const Waits& waits, const DiskPressure& pressure, bool reads) {
    const double pressed_seconds = pressure.expected * waits.wall;
    const double data_wait = reads ? waits.data : 0;
    const double waited_seconds = data_wait + waits.checkpoint;
    wall += waits.wall;
    waited += waited_seconds;
    pressed += std::min(1.0, pressure.expected) * waited_seconds;
    if (pressure.least < kSomePressure || waited_seconds <= 0) return;
    // Who waits for the disk waits while it is pressed: as much of both as there can be in common.
    const double common = std::min(waited_seconds, pressed_seconds);
    data += common * data_wait / waited_seconds;
    checkpoint += common * waits.checkpoint / waited_seconds;
    least += std::max(0.0, waited_seconds - (1 - std::min(1.0, pressure.least)) * waits.wall);
    most += waited_seconds;
  }
  void halve() {
    for (double* const sum : {&wall, &data, &checkpoint, &least, &most, &waited, &pressed}) *sum /= 2;
  }
};

struct OfMachine {
  explicit OfMachine(std::size_t most) : bottlenecks(most) {}
  RecentValues bottlenecks;  // by the original's formula; 1: is one
  std::deque<DiskMoment> moments;
};

class IoBottleneck final : public MachineRule {
 public:
  IoBottleneck(const Limits& limits, std::int64_t cadence_ns)
      : MachineRule({"cpu.busy", "cpu.*.iowait", "cgroup.pressure.io.some", "pressure.io.some", "gpu.utilisation",
                     "tree.io.read", "disk.*.busy", "cpu.*.busy"},
                    cadence_ns),
        limits_(limits),
        remembered_(std::max(kRemembered, 10 * limits.patience.moments)) {}

 private:
  void see(const Moment& moment) override {
    const auto of_group = moment.first(kGroupPressure), of_machine = moment.first(kPressure);
    const auto core_wait = moment.highest(kCoreWait);
    if (!of_group && !of_machine && !core_wait) return;
    // Others may be waiting on a processor, but not in the group.
    const double processors = sum(moment.all(kCoreBusy)) + sum(moment.all(kCoreWait));
    const DiskPressure pressure = of_group ? pressure_of(*of_group, 0, processors)
                                           : pressure_of(of_machine.value_or(0), core_wait.value_or(0), processors);
    OfMachine& machine = machines_.try_emplace(moment.node, remembered_).first->second;
    machine.moments.push_back({moment.from_unix_ns, pressure, moment.first(kRead).value_or(1) > 0});
    if (machine.moments.size() > kRemembered) machine.moments.pop_front();
    ++moments_;
    const auto busy = moment.highest(kDisk);
    if (busy) disk_busy_.add(*busy);
    see_gpus(moment, machine, std::max(pressure.least, core_wait.value_or(0)));
  }

  static double sum(std::span<const MomentValue> values) {
    double sum = 0;
    for (const MomentValue& value : values) sum += value.value;
    return sum;
  }

  void see_gpus(const Moment& moment, OfMachine& machine, double io_wait) {
    bool is_used = false, is_idle = false;
    for (const MomentValue& gpu : moment.all(kGpu)) {
      bool& used = gpu_used_[{moment.node, std::string(gpu.part)}];
      used = used || gpu.value > 0;
      is_used = is_used || used;
      is_idle = is_idle || (used && 100 * gpu.value < limits_.gpu);
    }
    if (is_used) machine.bottlenecks.add(is_idle && 100 * io_wait > limits_.io ? 1 : 0);
  }

  void see_step(const StepWindow& window) override {
    for (const auto& [worker, step] : phases().newest()) {
      const std::int64_t ended = window.ended_unix_ns(worker);
      if (!step.total_wall || ended == 0) continue;
      const auto index = [](Phase phase) { return static_cast<std::size_t>(phase); };
      const Waits now{0, ended, *step.total_wall, step.totals[index(Phase::kDataWait)],
                      step.totals[index(Phase::kCheckpoint)]};
      const auto [known, is_new] = totals_.try_emplace(worker, now);
      Waits& before = known->second;
      if (is_new || ended - before.to_unix_ns < kShortestNs) continue;
      if (now.wall > before.wall && now.data >= before.data && now.checkpoint >= before.checkpoint) {
        waits_.push_back({before.to_unix_ns, ended, now.wall - before.wall, now.data - before.data,
                          now.checkpoint - before.checkpoint});
      }
      before = now;
    }
    while (waits_.size() > kMostWaits) waits_.pop_front();
  }

  // Takes the waits whose moments are all known. Which worker runs on which of several machines is not.
  void settle_waits(bool run_ended) {
    if (machines_.size() != 1) return;
    const std::deque<DiskMoment>& moments = machines_.begin()->second.moments;
    while (!waits_.empty() && !moments.empty()) {
      const Waits& waits = waits_.front();
      if (!run_ended && waits.to_unix_ns > moments.back().from_unix_ns + kMomentNs) return;
      settle(waits, moments);
      waits_.pop_front();
    }
  }

  void settle(const Waits& waits, const std::deque<DiskMoment>& moments) {
    DiskPressure pressure;
    double count = 0;
    bool reads = false;
    const auto first =
        std::lower_bound(moments.begin(), moments.end(), waits.from_unix_ns - kMomentNs,
                         [](const DiskMoment& moment, std::int64_t unix_ns) { return moment.from_unix_ns < unix_ns; });
    for (auto moment = first; moment != moments.end() && moment->from_unix_ns < waits.to_unix_ns + kMomentNs;
         ++moment) {
      reads = reads || moment->reads;  // workers read ahead
      if (moment->from_unix_ns + kMomentNs <= waits.from_unix_ns || moment->from_unix_ns >= waits.to_unix_ns) continue;
      pressure.expected += moment->pressure.expected;
      pressure.least += moment->pressure.least;
      count += 1;
    }
    if (count == 0) return;
    lost_.add(waits, {pressure.expected / count, pressure.least / count}, reads);
    if (lost_.wall > kForgetAfter) lost_.halve();
  }

  Verdict judge(const TimeWindow& window) override {
    settle_waits(run_ended());
    if (machines_.empty()) {
      return Verdict::not_applicable(
          "nothing was sampled that tells of waits for a disk (pressure.io.some, cpu.*.iowait)");
    }
    const bool knows_waits =
        lost_.wall > 0 && (phases().has_seen(Phase::kDataWait) || phases().has_seen(Phase::kCheckpoint));
    if (knows_waits) return judge_waits(window);
    return gpu_used_.empty() ? nothing_waits() : judge_samples(window);
  }

  static bool is_known(double seconds, const Patience& patience, bool run_ended) {
    return patience.is_over(static_cast<std::size_t>(seconds * kMomentsASecond), run_ended);
  }

  Verdict nothing_waits() const {
    if (!limits_.patience.is_over(moments_, run_ended())) {
      return Verdict::insufficient_data(known_text(moments_, limits_.patience));
    }
    return Verdict::not_applicable(
        machines_.size() > 1 ? "several machines were sampled, and it is not known which worker runs on which"
                             : "no GPU was sampled, and of the steps neither waits for data nor checkpoints are known");
  }

  Verdict judge_waits(const TimeWindow& window) const {
    if (!is_known(lost_.wall, limits_.patience, run_ended())) {
      return Verdict::insufficient_data(
          known_text(static_cast<std::size_t>(lost_.wall * kMomentsASecond), limits_.patience) + " of train steps");
    }
    const double share = lost_.expected() / lost_.wall;
    if (share < limits_.least_loss) return Verdict::ok();
    const double pressure = lost_.pressed / lost_.waited;
    const Cost cost =
        cost_of({share, std::min(share, lost_.least / lost_.wall), std::max(share, lost_.most / lost_.wall)});
    const auto own = [&](const char* quantity, double value, double threshold, const char* metric) {
      return Evidence{"", "", quantity, value, threshold, window.last_step, metric, window.to_unix_ns};
    };
    std::vector<Evidence> evidence = {own("data_share", lost_.data / lost_.wall, limits_.least_loss, ""),
                                      own("checkpoint_share", lost_.checkpoint / lost_.wall, limits_.least_loss, ""),
                                      own("io_pressure", pressure, 0, "pressure.io.some")};
    if (disk_busy_.size() > 0) evidence.push_back(own("disk_busy", disk_busy_.mean(), 0, "disk.*.busy"));
    const bool is_data = lost_.data >= lost_.checkpoint;
    std::string message = fmt::format(
        "The training waits for a disk {:.3g} % of the time: {:.3g} % for data, {:.3g} % in checkpoints, while some "
        "task waited for a disk for {:.3g} % of that. Without it the training is {}.",
        100 * share, 100 * lost_.data / lost_.wall, 100 * lost_.checkpoint / lost_.wall, 100 * pressure,
        gain_text(cost));
    return finding(std::move(message), is_data ? kDataAdvice : kCheckpointAdvice, cost, std::move(evidence),
                   window.last_step);
  }

  Verdict judge_samples(const TimeWindow& window) const {
    std::size_t judged = 0, known = 0;
    for (const auto& [node, machine] : machines_) {
      known = std::max(known, machine.bottlenecks.seen());
      if (!limits_.patience.is_over(machine.bottlenecks.seen(), run_ended())) continue;
      ++judged;
      const double share = machine.bottlenecks.mean();
      if (100 * share <= limits_.share) continue;
      return bounded_finding(
          fmt::format(
              "On {} a GPU waits while a task waits for a disk, {:.3g} % of the time. Without that the training "
              "would be {:.3g} times as fast at most; how much can be had is not known, since the phases of "
              "its steps are not.",
              printable(node), 100 * share, gain_of_removing(share)),
          kDataAdvice, share, gain_of_removing(share),
          {{"", "", "bottleneck_share", share, limits_.share / 100, window.last_step, "gpu.utilisation",
            window.to_unix_ns}},
          window.last_step);
    }
    if (judged > 0) return Verdict::ok();
    return Verdict::insufficient_data(known_text(known, limits_.patience) + " of a GPU in use and of a disk");
  }

  const Limits limits_;
  const std::size_t remembered_;
  std::size_t moments_ = 0;
  std::map<std::string, OfMachine> machines_;
  std::map<std::pair<std::string, std::string>, bool> gpu_used_;  // by machine and device
  RecentValues disk_busy_{kRemembered};
  std::map<std::string, Waits> totals_;  // by worker: up to its last step that was looked at
  std::deque<Waits> waits_;
  Lost lost_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  Limits limits;
  limits.share = read.number("threshold", 0, 100);
  limits.gpu = read.number("gpu_threshold", 0, 100);
  limits.io = read.number("io_threshold", 0, 100);
  limits.least_loss = read.number("min_share", 0, 1);
  limits.patience = read_patience(read);
  const std::int64_t cadence_ns = read_cadence_ns(read);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new IoBottleneck(limits, cadence_ns));
}

}  // namespace
}  // namespace io_bottleneck_rule

RuleKind io_bottleneck() {
  return {
      {.name = "IOBottleneck",
       .summary = "Fires when the training waits for a disk.",
       .parameters = {{"threshold", "50", "without phases: part of the time in which a GPU may wait so, in %"},
                      {"gpu_threshold", "10", "without phases: a GPU below it waits, in %"},
                      {"io_threshold", "50", "without phases: a core, or any task, that waits for a disk, in %"},
                      {"min_share", "0.1", "part of the train steps lost to a disk that is put up with, from 0 to 1"},
                      {"patience", "100", "how long it waits before it judges, in half seconds"},
                      scan_interval_parameter()},
       .topic = "profiling",
       .details =
           std::string(
               "Where the phases of the steps are known: of each quarter of a second and more of a worker's steps, the "
               "time in which it waited for data or saved a checkpoint (`phase_total`) is compared with the time in "
               "which some task waited for a disk (`cgroup.pressure.io.some`, else the higher of `pressure.io.some` "
               "and `cpu.*.iowait`): as much as both have in common is lost to the disk. The kernel means pressure "
               "over the processors that are not idle, so that a busy one hides a part of it; the truth lies between "
               "what it tells and that times their number (`cpu.*.busy`, `cpu.*.iowait`), and the geometric mean of "
               "both is taken. A wait for data counts only while the training reads from disks (`tree.io.read`, where "
               "that is known), since others may press the disk too. Fires when `min_share` of the time is lost. That "
               "needs no GPU.\n\n"
               "Else, where a GPU is sampled, SageMaker's formula: fires when in more than `threshold` percent of the "
               "last ten minutes a GPU is in use for less than `gpu_threshold` while a core, or any task, waits for a "
               "disk for more than `io_threshold`.\n\n"
               "Mended of the original: a GPU of one machine and a core of another were taken together; machines are "
               "judged apart now. Bottlenecks were forgotten after a million samples and the number of samples was "
               "not. The time that a core waits for a disk says little, as the kernel counts it only where nothing "
               "else runs on it; pressure says it right. A disk that is busy while the training waits for nothing is "
               "no bottleneck. `gpu_threshold` is 70 in SageMaker's document of 2023 and 10 in its code, which is "
               "right; `patience` was 1000 there, more than eight minutes of silence, and is 100 as for CPUBottleneck. "
               "The "
               "other defaults are that document's.\n\n") +
           kCountsInHalfSeconds +
           "\n\nThe gain is that of the lost time; its bounds are what must be common to both, and all waits while the "
           "disk was pressed. Network and FUSE file systems that do not count as disks are not seen. Of several "
           "machines it is not known which worker runs on which: there only SageMaker's formula judges. Evidence: "
           "`step_share`, `gain`, `gain_min`, `gain_max`, `data_share`, `checkpoint_share`, `io_pressure`, "
           "`disk_busy`; or `bottleneck_share`.",
       .source = "SageMaker Debugger, its document of 2023; what the training loses is ours",
       .profiles = true,
       .consequences = {"Dataloader", "InputBound", "LowGPUUtilization", "StepOutlier"}},
      io_bottleneck_rule::create};
}

}  // namespace trainwarden::rules
