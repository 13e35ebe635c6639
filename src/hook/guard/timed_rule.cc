#include "hook/guard/timed_rule.h"

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::guard {

Verdict TimedRule::evaluate(const StepWindow& window) {
  last_outcome_ = Outcome::kError;  // should it throw
  last_severity_ = Severity::kError;
  const std::int64_t begin_ns = clock_.steady_ns();
  Verdict verdict = rule_->evaluate(window);
  const std::int64_t spent_ns = clock_.steady_ns() - begin_ns;
  slow_in_a_row_ = spent_ns > limit_ns_ ? slow_in_a_row_ + 1 : 0;
  // What it found is reported first.
  if (slow_in_a_row_ >= kTolerated && verdict.outcome != Outcome::kFired) {
    verdict =
        Verdict::error(fmt::format("it took more than {} at {} steps in a row, at last {}: it judges no more inside "
                                   "the training; judge with it beside the training",
                                   format_duration_ns(limit_ns_), slow_in_a_row_, format_duration_ns(spent_ns)));
  }
  last_outcome_ = verdict.outcome;
  last_severity_ = verdict.severity;
  return verdict;
}

}  // namespace trainwarden::guard
