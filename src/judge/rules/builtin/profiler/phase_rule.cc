#include "judge/rules/builtin/profiler/phase_rule.h"

#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "judge/rules/needs.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {

PhaseLimits read_phase_limits(ParameterReader& read) {
  PhaseLimits limits;
  limits.share = read.number("threshold", 0, 1);
  limits.seconds_a_step = read.number("min_seconds", 0);
  limits.training_seconds = read.number("min_training_seconds", 0);
  return limits;
}

std::vector<RuleParameter> phase_limit_parameters(std::string share, std::string seconds_a_step,
                                                  std::string training_seconds) {
  return {{"threshold", std::move(share), "part of the train steps' time that is put up with, from 0 to 1"},
          {"min_seconds", std::move(seconds_a_step), "a smaller cost is put up with, in seconds a step"},
          {"min_training_seconds", std::move(training_seconds), "seconds of train steps that must be known"}};
}

Verdict PhaseRule::evaluate(const StepWindow& window) {
  if (!shares_.take(window)) {
    return Verdict::not_applicable(fmt::format("no phases were captured at {}", describe_step(window)));
  }
  look_at(window);
  if (shares_.steps() < kFewestSteps || shares_.divided_steps() < kFewestDivided ||
      shares_.seconds() < limits_.training_seconds) {
    return Verdict::insufficient_data(fmt::format(
        "{:.0f} train steps of {:.3g} s are known, {} of them by phase; {:.0f} of {:.3g} s are waited for, {} by phase",
        shares_.steps(), shares_.seconds(), shares_.divided_steps(), kFewestSteps, limits_.training_seconds,
        kFewestDivided));
  }
  return judge(window);
}

std::vector<Collection> PhaseRule::needs() const {
  return {need_values("scalars", 1)};
}

std::string seconds_text(double seconds) {
  return format_duration_ns(static_cast<std::int64_t>(seconds * 1e9));
}

}  // namespace trainwarden::rules
