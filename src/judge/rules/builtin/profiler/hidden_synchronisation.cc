// HiddenSynchronisation: numbers are read from tensors one by one, as .item() in a loop does.
//
// Source: synchronising calls as profilers of GPUs list them (each read waits for all work that was asked for). Ours:
// on a CPU, where nothing is waited for, a run of such reads is a loop over single numbers, and costs what lies between
// its first and its last read; reads within optimizers are theirs; the least number and cost, and the gain's bounds.
//
// State: sums of phases, by worker (PhaseShares); a share for each recorded step (RecordedCalls).
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "judge/rules/builtin/profiler/finding.h"
#include "judge/rules/builtin/profiler/host_calls.h"
#include "judge/rules/builtin/profiler/phase_rule.h"
#include "judge/rules/builtin/profiler/profiler_rules.h"
#include "judge/rules/builtin/profiler/recorded_calls.h"
#include "judge/rules/step_statistics.h"
#include "read/profile/rates.h"

namespace trainwarden::rules {
namespace hidden_synchronisation_rule {
namespace {

constexpr std::size_t kFewestRecorded = 2;
constexpr const char* kAdvice =
    "Compute on whole tensors instead of reading numbers in a loop (sum, mean, comparison, then one .item() or "
    ".tolist() every so many steps); aten::item nearly vanishes from `trainwarden operators`.";

class HiddenSynchronisation final : public PhaseRule {
 public:
  HiddenSynchronisation(const PhaseLimits& limits, double fewest_reads)
      : PhaseRule(limits), fewest_reads_(fewest_reads) {}

 private:
  void look_at(const StepWindow& window) override {
    for (const RecordedStep& step : calls_.take(window)) add(step);
    if (!uses_device_ && window.trial() != nullptr)
      uses_device_ = window.trial()->has_tensor("phase_device/global_step");
  }

  void add(const RecordedStep& step) {
    const ScalarReads reads = scalar_reads(step.batch);
    const DeviceCalls device = device_calls(step.batch);
    has_kernels_ = has_kernels_ || device.has_device;
    reads_ += static_cast<double>(std::max(reads.reads, device.copies_to_host));
    const std::int64_t lost_ns = device.has_device ? device.idle_after_reads_ns : reads.waited_ns;
    of_wall_.push_back(share_of(std::max(lost_ns, device.has_device ? 0 : reads.runs_ns), step.wall_ns));
    const std::int64_t computing_ns = step.computing_ns > 0 ? step.computing_ns : step.wall_ns;
    const auto recording_ns = static_cast<std::int64_t>(step.batch.calls.size()) * kRecordingNs;
    const double with_recording = share_of(reads.recorded_runs_ns, computing_ns);
    const double without = share_of(reads.runs_ns, std::max(computing_ns / 2, computing_ns - recording_ns));
    of_computing_.push_back((with_recording + without) / 2);
  }

  static double share_of(std::int64_t lost_ns, std::int64_t of_ns) {
    return std::min(1.0, static_cast<double>(lost_ns) / static_cast<double>(of_ns));
  }

  Verdict judge(const StepWindow& window) override {
    const std::size_t recorded = of_wall_.size();
    if (recorded == 0) {
      return Verdict::not_applicable("no operators were recorded: `trainwarden profile` records some steps");
    }
    if (recorded < kFewestRecorded) return Verdict::insufficient_data("operators of one train step are known");
    const double reads = reads_ / static_cast<double>(recorded);
    const ShareRange share = lost_share();
    const double seconds = share.mean * shares().seconds() / shares().steps();
    if (reads < fewest_reads_ || !is_worth_it(share, seconds)) return Verdict::ok();
    return verdict(share, reads, seconds, window);
  }

  // A recorded step is not like the others: all calls take longer in it, and it is one of the first. On the host it
  // tells which part of the program's own time the reads take, and all steps tell what that time is.
  ShareRange lost_share() const {
    if (has_kernels_ || uses_device_) return range_of(of_wall_, 1);
    return range_of(of_computing_, shares().share(kComputing).mean);
  }

  static ShareRange range_of(std::vector<double> recorded, double part) {
    std::sort(recorded.begin(), recorded.end());
    const double sum = std::accumulate(recorded.begin(), recorded.end(), 0.0);
    return {part * sum / static_cast<double>(recorded.size()), part * profile::quantile_of_sorted(recorded, 0.1),
            part * profile::quantile_of_sorted(recorded, 0.9)};
  }

  Verdict verdict(const ShareRange& share, double reads, double seconds, const StepWindow& window) const {
    // A device that was waited for has work to do all the same, unless it is seen to be idle.
    const bool is_waiting = uses_device_ && !has_kernels_;
    const Cost cost = cost_of(share, is_waiting ? Removable{0.5, 0, 1} : Removable{1, 0.7, 1});
    std::string message = fmt::format(
        "Single numbers are read from tensors {:.0f} times a step, which {} {} a step, {:.3g} % of the time. Computed "
        "on whole tensors instead, training is {}.",
        reads, has_kernels_ ? "leaves the device idle for" : (is_waiting ? "waits for the device for" : "takes"),
        seconds_text(seconds), 100 * share.mean, gain_text(cost));
    return finding(
        std::move(message), kAdvice, cost,
        {own("reads_per_step", reads, fewest_reads_, window), own("read_share", share.mean, limits().share, window),
         own("read_seconds", seconds, limits().seconds_a_step, window),
         own("recorded_steps", static_cast<double>(of_wall_.size()), 0, window)},
        window.global_step());
  }

  const double fewest_reads_;
  RecordedCalls calls_;
  bool uses_device_ = false;
  bool has_kernels_ = false;
  double reads_ = 0;
  // Shares that the reads take of each recorded step, at most RecordedCalls::kMostSteps: of its wall time, and of the
  // phases in kComputing.
  std::vector<double> of_wall_, of_computing_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const PhaseLimits limits = read_phase_limits(read);
  const double reads = read.number("min_reads", 0);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new HiddenSynchronisation(limits, reads));
}

}  // namespace
}  // namespace hidden_synchronisation_rule

RuleKind hidden_synchronisation() {
  std::vector<RuleParameter> parameters = phase_limit_parameters("0.1", "0.001");
  parameters.push_back({"min_reads", "16", "fewer reads of single numbers in a step are put up with"});
  return {
      {.name = "HiddenSynchronisation",
       .summary = "Fires when a program reads many single numbers from tensors, as .item() in a loop does.",
       .parameters = std::move(parameters),
       .topic = "profiling",
       .details =
           "Looks at the operators of up to 32 recorded train steps of the first worker. Fires when "
           "`aten::_local_scalar_dense`, which `.item()`, `float()` and `if tensor:` call, is called at least "
           "`min_reads` times a step outside of optimizers, and costs at least `threshold` of the steps' wall time and "
           "`min_seconds` of each. The cost is, on a CPU, the time of runs of at least eight such reads within a "
           "millisecond and eight operators of each other, without operators of 100 µs and more between them: as a "
           "part of the phases forward, loss and rest of the recorded steps, of which all steps tell how long they "
           "are; on a device whose kernels were recorded, the time in which it is idle after a read or a copy to the "
           "host; on another, the time that the reads wait.\n\n"
           "Predicted gain: 1 / (1 - share), which assumes that the loop goes for a few operators on whole tensors. "
           "Bounds: seven tenths of the share that nine of ten recorded steps exceed, and that of the worst of ten. "
           "Where kernels were not recorded, half of it, between nothing and all.\n\n"
           "Needs the phases of train steps, and recorded operators. Conversions that call no operator, as `.numpy()` "
           "and `.tolist()` on a CPU, are not seen. Evidence: `step_share`, `gain`, `gain_min`, `gain_max`, "
           "`reads_per_step`, `read_share`, `read_seconds`, `recorded_steps`.",
       .source = "synchronising calls as GPU profilers list them; runs of reads on a CPU and the bounds are ours",
       .profiles = true,
       .consequences = {"SmallKernels"}},
      hidden_synchronisation_rule::create};
}

}  // namespace trainwarden::rules
