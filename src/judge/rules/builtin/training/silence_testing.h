// A run that goes on in silence: its steps are judged, then the rule is asked about what does not come.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {

inline constexpr std::int64_t kSecondNs = 1'000'000'000;

class SilentRun {
 public:
  SilentRun(const TestRun& run, std::string_view spec)
      : clock_(run.clock()), rule_(*create_rule(*parse_rule_spec(spec))), trial_(run.open()) {
    for (const std::int64_t step : trial_->steps()) {
      last_outcome_ = rule_->evaluate(TrialWindow(*trial_, step)).outcome;
    }
  }

  Outcome last_outcome() const { return last_outcome_; }

  // A verdict that fired, after so many seconds of the clock on which the run was written, from its last moment on.
  std::optional<Verdict> after(double seconds) {
    const std::int64_t last = trial_->last_unix_ns() > 0 ? trial_->last_unix_ns() : trial_->created_unix_ns();
    const std::int64_t now = clock_.unix_ns() + static_cast<std::int64_t>(seconds * 1e9);
    Verdict verdict = rule_->evaluate_time({*trial_, now, now, trial_->last_complete_step(), last});
    return verdict.outcome == Outcome::kFired ? std::optional(std::move(verdict)) : std::nullopt;
  }

 private:
  FakeClock& clock_;
  std::unique_ptr<Rule> rule_;
  std::unique_ptr<Trial> trial_;
  Outcome last_outcome_ = Outcome::kNotApplicable;
};

}  // namespace trainwarden::rules
