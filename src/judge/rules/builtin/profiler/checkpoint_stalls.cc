// CheckpointStalls: training stands still while checkpoints are saved.
//
// Source: a phase's share of the wall time (XProf's limit for a step's output is 5 %, moderate, and 20 %, high). Ours:
// it is counted in whole cycles, from one checkpoint to the next, and the least cost.
//
// State: sums of phases, by worker (PhaseShares, RecurringPhase).
#include "judge/rules/builtin/profiler/profiler_rules.h"
#include "judge/rules/builtin/profiler/recurring_phase_rule.h"

namespace trainwarden::rules {
namespace checkpoint_stalls_rule {
namespace {

constexpr RecurringWords kWords = {
    Phase::kCheckpoint, "Saving checkpoints", "checkpoint",
    "Save less often, or copy the state and write it in another thread; phase/checkpoint falls with it."};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const PhaseLimits limits = read_phase_limits(read);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new RecurringPhaseRule(limits, kWords));
}

}  // namespace
}  // namespace checkpoint_stalls_rule

RuleKind checkpoint_stalls() {
  return {
      {.name = "CheckpointStalls",
       .summary = "Fires when much of the time goes into saving checkpoints.",
       .parameters = recurring_phase_parameters("0.1", "0.01"),
       .topic = "profiling",
       .details =
           "Fires when `phase/checkpoint` takes at least `threshold` of the wall time of train steps, and each time at "
           "least `min_seconds`. Time is counted until the end of the last one, in whole cycles, after the second. Of "
           "several workers the one that spends most on it is judged: the others wait for it. What is saved by other "
           "means than `torch.save` is in `phase/rest`.\n\n"
           "Predicted gain: 1 / (1 - 0.95 share), for a twentieth as often. Bounds: half as often, with the least "
           "share of four quarters of the time, and not at all, with the greatest.\n\n"
           "Needs the phases of train steps. Evidence: `step_share`, `gain`, `gain_min`, `gain_max`, "
           "`checkpoint_share`, `checkpoint_seconds`, `steps_apart`.",
       .source = "the share of a phase, with the 5 % of XProf's limit for output doubled; the cycle and the gain's "
                 "bounds are ours",
       .profiles = true},
      checkpoint_stalls_rule::create};
}

}  // namespace trainwarden::rules
