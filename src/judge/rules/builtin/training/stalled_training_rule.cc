// StalledTrainingRule: a training that has not ended writes nothing for a long time.
//
// Source: the documented rule of SageMaker Debugger: no new tensor for `threshold` seconds. It stopped the job whose
// name begins with training_job_name_prefix; here there is one run and no list of jobs, so both parameters are taken
// and do nothing: who wants a stalled training to be stopped judges with `--on-fire stop`. The end of the run is no
// stall. Ours: a silence before the first step counts from the run's creation.
//
// Ours, too: in a recorded run a gap of that length before a step is a note, since a run that was resumed later looks
// the same. State: when the last step ended.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "judge/rules/builtin/training/training_rules.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"
#include "judge/rules/timeline/clock_schedule.h"

namespace trainwarden::rules {
namespace stalled_training {
namespace {

constexpr const char* kAdvice =
    "See what the training processes wait for (data, storage, another worker); with --on-fire stop it is asked to stop "
    "at its next step.";

std::string duration(double seconds) {
  return format_duration_ns(static_cast<std::int64_t>(seconds * 1e9));
}

class StalledTrainingRule final : public Rule {
 public:
  explicit StalledTrainingRule(double threshold) : threshold_(threshold) {}

  Verdict evaluate(const StepWindow& window) override {
    std::int64_t ended = 0;
    for (const std::string& worker : window.workers()) ended = std::max(ended, window.ended_unix_ns(worker));
    if (ended == 0) return Verdict::not_applicable(fmt::format("when {} ended is not known", describe_step(window)));
    const std::int64_t before = std::exchange(last_unix_ns_, ended);
    const double gap = static_cast<double>(ended - before) / 1e9;
    if (before == 0 || !(gap >= threshold_)) return Verdict::ok();
    return stalled(
        fmt::format("The training stood still for {} before {}, or was resumed after it; {} are put up with.",
                    duration(gap), describe_step(window), duration(threshold_)),
        gap, window.global_step(), Severity::kInfo);
  }

  std::optional<TimeSchedule> schedule() const override { return by_the_clock(); }

  Verdict evaluate_time(const TimeWindow& window) override {
    const double silent = static_cast<double>(window.to_unix_ns - window.last_step_unix_ns) / 1e9;
    if (!(silent >= threshold_)) return Verdict::ok();
    const std::string since = window.last_step < 0 ? "the run was created" : fmt::format("step {}", window.last_step);
    return stalled(fmt::format("The training has stalled: nothing new for {} since {}; {} are put up with.",
                               duration(silent), since, duration(threshold_)),
                   silent, window.last_step, Severity::kError);
  }

 private:
  Verdict stalled(std::string message, double seconds, std::int64_t step, Severity severity) const {
    return fired(std::move(message), kAdvice, {{"", "", "seconds_without_step", seconds, threshold_, step}}, severity);
  }

  const double threshold_;
  std::int64_t last_unix_ns_ = 0;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const double threshold = read.number("threshold", 0);
  (void)read.boolean("stop_training_on_fire");
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new StalledTrainingRule(threshold));
}

}  // namespace
}  // namespace stalled_training

RuleKind stalled_training_rule() {
  return {
      {.name = "StalledTrainingRule",
       .summary = "Fires when a training that has not ended writes nothing new for a number of seconds.",
       .parameters = {{"threshold", "1800", "seconds without anything new"},
                      {"stop_training_on_fire", "False",
                       "True or False; taken as documented, and without effect: stopping is what --on-fire stop does"},
                      {"training_job_name_prefix", "",
                       "taken as documented, and without effect: there is one run, not a list of jobs"}},
       .topic = "training",
       .details =
           "Fires beside a live training when no step has come for `threshold` seconds, counted from the last step "
           "or, before the first, from the run's creation. The end of the run is no stall, and neither is a run "
           "whose processes have died: its state says so. Over a recorded run such a gap between two steps is a "
           "note. It needs nothing to be captured.\n\n"
           "In SageMaker the rule stopped the one training job whose name begins with the prefix when "
           "`stop_training_on_fire` was set. Here `--on-fire stop` asks the run that is judged to stop, whatever "
           "rule fires, so both parameters are accepted and do nothing. Evidence: `seconds_without_step`.",
       .source = "documented rule of SageMaker Debugger; recorded runs are ours",
       .by_default = true,
       .in_process = false},
      stalled_training::create};
}

}  // namespace trainwarden::rules
