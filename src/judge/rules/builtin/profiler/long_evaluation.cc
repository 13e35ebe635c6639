// LongEvaluation: much of the time goes into evaluating.
//
// Source: a phase's share of the wall time, with 20 % as XProf's limit for what a step does besides computing. Ours: it
// is counted in whole cycles, from one evaluation to the next, and the least cost.
//
// State: sums of phases, by worker (PhaseShares, RecurringPhase).
#include "judge/rules/builtin/profiler/profiler_rules.h"
#include "judge/rules/builtin/profiler/recurring_phase_rule.h"

namespace trainwarden::rules {
namespace long_evaluation_rule {
namespace {

constexpr RecurringWords kWords = {
    Phase::kEvaluation, "Evaluation", "evaluation",
    "Evaluate less often, or on a fixed part of the data with larger batches and without gradients; phase/evaluation "
    "falls with it."};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const PhaseLimits limits = read_phase_limits(read);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new RecurringPhaseRule(limits, kWords));
}

}  // namespace
}  // namespace long_evaluation_rule

RuleKind long_evaluation() {
  return {
      {.name = "LongEvaluation",
       .summary = "Fires when much of the time goes into evaluating.",
       .parameters = recurring_phase_parameters("0.2", "0.02"),
       .topic = "profiling",
       .details =
           "Fires when `phase/evaluation` takes at least `threshold` of the wall time of train steps, and each time at "
           "least `min_seconds`. Time is counted until the end of the last one, in whole cycles, after the second. Of "
           "several workers the one that spends most on it is judged: the others wait for it. Metrics that a program "
           "computes sample by sample between two steps, without calling a model, are not part of it.\n\n"
           "Predicted gain: 1 / (1 - 0.95 share), for a twentieth as often. Bounds: half as often, with the least "
           "share of four quarters of the time, and not at all, with the greatest.\n\n"
           "Needs the phases of train steps. Evidence: `step_share`, `gain`, `gain_min`, `gain_max`, "
           "`evaluation_share`, `evaluation_seconds`, `steps_apart`.",
       .source = "the share of a phase, judged as XProf does a step's input and output (high at 20 %); the cycle and "
                 "the gain's bounds are ours",
       .profiles = true},
      long_evaluation_rule::create};
}

}  // namespace trainwarden::rules
