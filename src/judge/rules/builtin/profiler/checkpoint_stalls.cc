// CheckpointStalls: training stands still while checkpoints are saved.
//
// Source: a phase's share of the wall time (XProf's limit for a step's output is 5 %, moderate, and 20 %, high). Ours:
// it is counted in whole cycles, from one checkpoint to the next, and the least cost.
//
// State: sums of phases, by worker (PhaseShares, RecurringPhase).
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/profiler/finding.h"
#include "judge/rules/builtin/profiler/phase_rule.h"
#include "judge/rules/builtin/profiler/profiler_rules.h"
#include "judge/rules/builtin/profiler/recurring_phase.h"

namespace trainwarden::rules {
namespace checkpoint_stalls_rule {
namespace {

// Most programs can do it a twentieth as often, all of them half as often; none cannot do without.
constexpr Removable kRarer = {0.95, 0.5, 1};
constexpr const char* kAdvice =
    "Save less often, or copy the state and write it in another thread; phase/checkpoint falls with it.";

class CheckpointStalls final : public PhaseRule {
 public:
  using PhaseRule::PhaseRule;

 private:
  void look_at(const StepWindow&) override { phase_.take(shares()); }

  Verdict judge(const StepWindow& window) override {
    const auto found = phase_.found();
    if (!found) return none_yet();
    if (!is_worth_it(found->share, found->seconds_each)) return Verdict::ok();
    const Cost cost = cost_of(found->share, kRarer);
    std::string message = fmt::format(
        "Saving checkpoints takes {:.3g} % of the time: {} each time, every {:.3g} train steps{}. Done a twentieth as "
        "often, training is {}.",
        100 * found->share.mean, seconds_text(found->seconds_each), found->steps_apart,
        window.workers().size() > 1 ? fmt::format(" on {}", found->worker) : "", gain_text(cost));
    return finding(std::move(message), kAdvice, cost,
                   {own("checkpoint_share", found->share.mean, limits().share, window),
                    own("checkpoint_seconds", found->seconds_each, limits().seconds_a_step, window),
                    own("steps_apart", found->steps_apart, 0, window)},
                   window.global_step());
  }

  Verdict none_yet() const {
    if (!shares().has_seen(Phase::kCheckpoint)) return Verdict::ok();
    return Verdict::insufficient_data(
        "one checkpoint was seen; a second one is waited for, to know how often they come");
  }

  RecurringPhase phase_{Phase::kCheckpoint};
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const PhaseLimits limits = read_phase_limits(read);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new CheckpointStalls(limits));
}

}  // namespace
}  // namespace checkpoint_stalls_rule

RuleKind checkpoint_stalls() {
  std::vector<RuleParameter> parameters = phase_limit_parameters("0.1", "0.01");
  parameters[1].description = "a shorter one is put up with, in seconds each time";
  return {
      {.name = "CheckpointStalls",
       .summary = "Fires when much of the time goes into saving checkpoints.",
       .parameters = std::move(parameters),
       .topic = "profiling",
       .details =
           "Fires when `phase/checkpoint` takes at least `threshold` of the wall time of train steps, and each time at "
           "least `min_seconds`. Time is counted until the end of the last one, in whole cycles, after the second. "
           "Of several workers the one that spends most on it is judged: the others wait for it. What is saved by "
           "other means than `torch.save` is in `phase/rest`.\n\n"
           "Predicted gain: 1 / (1 - 0.95 share), for a twentieth as often. Bounds: half as often, with the least "
           "share of "
           "four quarters of the time, and not at all, with the greatest.\n\n"
           "Needs the phases of train steps. Evidence: `step_share`, `gain`, `gain_min`, `gain_max`, "
           "`checkpoint_share`, `checkpoint_seconds`, `steps_apart`.",
       .source = "the share of a phase, with the 5 % of XProf's limit for output doubled; the cycle and the gain's "
                 "bounds are ours",
       .profiles = true},
      checkpoint_stalls_rule::create};
}

}  // namespace trainwarden::rules
