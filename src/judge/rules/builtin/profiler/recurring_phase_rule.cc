#include "judge/rules/builtin/profiler/recurring_phase_rule.h"

#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/profiler/finding.h"

namespace trainwarden::rules {
namespace {

// Most programs can do it a twentieth as often, all of them half as often; none cannot do without.
constexpr Removable kRarer = {0.95, 0.5, 1};

}  // namespace

Verdict RecurringPhaseRule::judge(const StepWindow& window) {
  const auto found = phase_.found();
  if (!found) return none_yet();
  if (!is_worth_it(found->share, found->seconds_each)) return Verdict::ok();
  const Cost cost = cost_of(found->share, kRarer);
  std::string message = fmt::format(
      "{} takes {:.3g} % of the time: {} each time, every {:.3g} train steps{}. Done a twentieth as often, training is "
      "{}.",
      words_.doing, 100 * found->share.mean, seconds_text(found->seconds_each), found->steps_apart,
      window.workers().size() > 1 ? fmt::format(" on {}", found->worker) : "", gain_text(cost));
  const std::string noun = words_.noun;
  return finding(std::move(message), words_.advice, cost,
                 {own((noun + "_share").c_str(), found->share.mean, limits().share, window),
                  own((noun + "_seconds").c_str(), found->seconds_each, limits().seconds_a_step, window),
                  own("steps_apart", found->steps_apart, 0, window)},
                 window.global_step());
}

Verdict RecurringPhaseRule::none_yet() const {
  if (!shares().has_seen(words_.phase)) return Verdict::ok();
  return Verdict::insufficient_data(
      fmt::format("one {} was seen; a second one is waited for, to know how often they come", words_.noun));
}

std::vector<RuleParameter> recurring_phase_parameters(std::string share, std::string seconds_each) {
  std::vector<RuleParameter> parameters = phase_limit_parameters(std::move(share), std::move(seconds_each));
  parameters[1].description = "a shorter one is put up with, in seconds each time";
  return parameters;
}

}  // namespace trainwarden::rules
