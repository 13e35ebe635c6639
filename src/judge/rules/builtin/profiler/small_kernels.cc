// SmallKernels: the work is cut into pieces that are shorter than what it takes to ask for them.
//
// Source: kernels that are shorter than their launch, as HTA counts them (launches take 5 to 20 µs), while the device
// is idle. Ours: on a CPU, thousands of operators of a few microseconds, with the short gaps before them; the limits,
// which leave alone programs that are small as a whole; the gain's bounds.
//
// State: sums of phases, by worker (PhaseShares); sums over recorded steps (RecordedCalls).
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/profiler/finding.h"
#include "judge/rules/builtin/profiler/host_calls.h"
#include "judge/rules/builtin/profiler/phase_rule.h"
#include "judge/rules/builtin/profiler/profiler_rules.h"
#include "judge/rules/builtin/profiler/recorded_calls.h"

namespace trainwarden::rules {
namespace small_kernels_rule {
namespace {

constexpr double kFewestKernels = 100;     // a step
constexpr double kShortKernelNs = 10'000;  // about what a launch takes
constexpr double kBusyDevice = 0.5;        // of the time: a device that is busier does not wait for launches
constexpr const char* kFuse =
    "Put the pieces together: larger batches, torch.compile or CUDA graphs, fused layers and optimizers; fewer kernels "
    "a step, and the device's share of the time rises.";
constexpr const char* kVectorise =
    "Replace loops over samples, time steps or parameters by operators on whole tensors, or use larger batches; the "
    "calls in `trainwarden operators` become fewer.";

class SmallKernels final : public PhaseRule {
 public:
  SmallKernels(const PhaseLimits& limits, double fewest_operators)
      : PhaseRule(limits), fewest_operators_(fewest_operators) {}

 private:
  void look_at(const StepWindow& window) override {
    for (const RecordedStep& step : calls_.take(window)) {
      const TinyOperators tiny = tiny_operators(step.batch);
      const DeviceCalls device = device_calls(step.batch);
      ++recorded_;
      tiny_ += static_cast<double>(tiny.tiny);
      tiny_ns_ += static_cast<double>(tiny.tiny_ns);
      own_ns_ += tiny.mean_tiny_ns * static_cast<double>(tiny.tiny);
      kernels_ += static_cast<double>(device.kernels);
      kernels_ns_ += static_cast<double>(device.kernels_ns);
      busy_ns_ += static_cast<double>(device.busy_ns);
      wall_ns_ += static_cast<double>(step.wall_ns);
    }
    if (!uses_device_ && window.trial() != nullptr)
      uses_device_ = window.trial()->has_tensor("phase_device/global_step");
  }

  Verdict judge(const StepWindow& window) override {
    if (recorded_ == 0) {
      return Verdict::not_applicable("no operators were recorded: `trainwarden profile` records some steps");
    }
    if (recorded_ < 2) return Verdict::insufficient_data("operators of one train step are known");
    if (kernels_ > 0) return of_device(window);
    if (uses_device_) return Verdict::not_applicable("the program uses a device whose kernels were not recorded");
    return of_host(window);
  }

  Verdict of_device(const StepWindow& window) const {
    const double kernels = kernels_ / recorded_;
    const double mean_ns = kernels_ns_ / kernels_;
    const double busy = std::min(1.0, busy_ns_ / wall_ns_);
    const double idle = 1 - busy;
    if (kernels < kFewestKernels || mean_ns >= kShortKernelNs || busy >= kBusyDevice) return Verdict::ok();
    if (idle * wall_ns_ / recorded_ / 1e9 < limits().seconds_a_step) return Verdict::ok();
    const Cost cost = cost_of({idle, idle, idle}, {0.6, 0.2, 1});
    std::string message = fmt::format(
        "The device runs {:.0f} kernels a step of {} each (mean), which is shorter than asking for one takes, and is "
        "idle {:.3g} % of the time. With six tenths of that gone, training is {}.",
        kernels, seconds_text(mean_ns / 1e9), 100 * idle, gain_text(cost));
    return finding(std::move(message), kFuse, cost,
                   {own("kernels_per_step", kernels, kFewestKernels, window),
                    own("kernel_seconds", mean_ns / 1e9, kShortKernelNs / 1e9, window),
                    own("device_busy", busy, kBusyDevice, window)},
                   window.global_step());
  }

  Verdict of_host(const StepWindow& window) const {
    const double operators = tiny_ / recorded_;
    const double share = std::min(1.0, tiny_ns_ / wall_ns_);
    const double seconds = tiny_ns_ / recorded_ / 1e9;
    if (operators < fewest_operators_ || !is_worth_it({share, share, share}, seconds)) return Verdict::ok();
    const Cost cost = cost_of({share, share, share}, {0.7, 0.3, 0.95});
    std::string message = fmt::format(
        "A step calls {:.0f} operators of less than 10 µs ({:.2g} µs mean), which with the gaps before them take {}, "
        "{:.3g} % of the time. With seven tenths of that gone, training is {}.",
        operators, own_ns_ / tiny_ / 1e3, seconds_text(seconds), 100 * share, gain_text(cost));
    return finding(
        std::move(message), kVectorise, cost,
        {own("tiny_operators", operators, fewest_operators_, window), own("tiny_share", share, limits().share, window),
         own("tiny_seconds", seconds, limits().seconds_a_step, window)},
        window.global_step());
  }

  const double fewest_operators_;
  RecordedCalls calls_;
  bool uses_device_ = false;
  double recorded_ = 0, tiny_ = 0, tiny_ns_ = 0, own_ns_ = 0;
  double kernels_ = 0, kernels_ns_ = 0, busy_ns_ = 0, wall_ns_ = 0;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const PhaseLimits limits = read_phase_limits(read);
  const double operators = read.number("min_operators", 0);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new SmallKernels(limits, operators));
}

}  // namespace
}  // namespace small_kernels_rule

RuleKind small_kernels() {
  std::vector<RuleParameter> parameters = phase_limit_parameters("0.5", "0.02");
  parameters.push_back({"min_operators", "2000", "fewer tiny operators in a step of a CPU are put up with"});
  return {
      {.name = "SmallKernels",
       .summary = "Fires when the work is cut into pieces that are shorter than what it takes to ask for them.",
       .parameters = std::move(parameters),
       .topic = "profiling",
       .details =
           "Looks at the operators of up to 32 recorded train steps of the first worker. Where kernels of a device "
           "were recorded: fires when there are at least 100 a step, of less than 10 µs each in the mean, and the "
           "device is busy less than half of the time. Where there is no device: fires when at least `min_operators` "
           "operators of less than 10 µs a step, with gaps of up to 50 µs before them, take at least `threshold` of "
           "the steps' wall time and `min_seconds` of each.\n\n"
           "Predicted gain: with six tenths of the idle time gone, or seven tenths of the tiny operators; bounds from "
           "a fifth to all of it. How far pieces can be put together is the program's matter.\n\n"
           "Needs the phases of train steps, and recorded operators; of a device its kernels. Evidence: `step_share`, "
           "`gain`, `gain_min`, `gain_max`, and `kernels_per_step`, `kernel_seconds`, `device_busy`, or "
           "`tiny_operators`, `tiny_share`, `tiny_seconds`.",
       .source = "kernels shorter than their launch as in HTA; the limits on a CPU and the bounds are ours",
       .profiles = true},
      small_kernels_rule::create};
}

}  // namespace trainwarden::rules
