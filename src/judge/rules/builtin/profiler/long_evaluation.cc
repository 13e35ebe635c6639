// LongEvaluation: much of the time goes into evaluating.
//
// Source: a phase's share of the wall time, with 20 % as XProf's limit for what a step does besides computing. Ours: it
// is counted in whole cycles, from one evaluation to the next, and the least cost.
//
// State: sums of phases, by worker (PhaseShares, RecurringPhase).
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/profiler/finding.h"
#include "judge/rules/builtin/profiler/phase_rule.h"
#include "judge/rules/builtin/profiler/profiler_rules.h"
#include "judge/rules/builtin/profiler/recurring_phase.h"

namespace trainwarden::rules {
namespace long_evaluation_rule {
namespace {

// Most programs can do it a twentieth as often, all of them half as often; none cannot do without.
constexpr Removable kRarer = {0.95, 0.5, 1};
constexpr const char* kAdvice =
    "Evaluate less often, or on a fixed part of the data with larger batches and without gradients; phase/evaluation "
    "falls with it.";

class LongEvaluation final : public PhaseRule {
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
        "Evaluation takes {:.3g} % of the time: {} each time, every {:.3g} train steps{}. Done a twentieth as often, "
        "training is {}.",
        100 * found->share.mean, seconds_text(found->seconds_each), found->steps_apart,
        window.workers().size() > 1 ? fmt::format(" on {}", found->worker) : "", gain_text(cost));
    return finding(std::move(message), kAdvice, cost,
                   {own("evaluation_share", found->share.mean, limits().share, window),
                    own("evaluation_seconds", found->seconds_each, limits().seconds_a_step, window),
                    own("steps_apart", found->steps_apart, 0, window)},
                   window.global_step());
  }

  Verdict none_yet() const {
    if (!shares().has_seen(Phase::kEvaluation)) return Verdict::ok();
    return Verdict::insufficient_data(
        "one evaluation was seen; a second one is waited for, to know how often they come");
  }

  RecurringPhase phase_{Phase::kEvaluation};
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const PhaseLimits limits = read_phase_limits(read);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new LongEvaluation(limits));
}

}  // namespace
}  // namespace long_evaluation_rule

RuleKind long_evaluation() {
  std::vector<RuleParameter> parameters = phase_limit_parameters("0.2", "0.02");
  parameters[1].description = "a shorter one is put up with, in seconds each time";
  return {
      {.name = "LongEvaluation",
       .summary = "Fires when much of the time goes into evaluating.",
       .parameters = std::move(parameters),
       .topic = "profiling",
       .details =
           "Fires when `phase/evaluation` takes at least `threshold` of the wall time of train steps, and each time at "
           "least `min_seconds`. Time is counted until the end of the last one, in whole cycles, after the second. "
           "Of several workers the one that spends most on it is judged: the others wait for it. Metrics that a "
           "program computes sample by sample between two steps, without calling a model, are not part of it.\n\n"
           "Predicted gain: 1 / (1 - 0.95 share), for a twentieth as often. Bounds: half as often, with the least "
           "share of "
           "four quarters of the time, and not at all, with the greatest.\n\n"
           "Needs the phases of train steps. Evidence: `step_share`, `gain`, `gain_min`, `gain_max`, "
           "`evaluation_share`, `evaluation_seconds`, `steps_apart`.",
       .source = "the share of a phase, judged as XProf does a step's input and output (high at 20 %); the cycle and "
                 "the gain's bounds are ours",
       .profiles = true},
      long_evaluation_rule::create};
}

}  // namespace trainwarden::rules
