// TimedRule: a rule that fails when it takes too long too often, and that remembers what it said last.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/clock.h"
#include "trainwarden/rule.h"

namespace trainwarden::guard {

class TimedRule final : public Rule {
 public:
  // So many evaluations in a row that pass the limit are one too many.
  static constexpr int kTolerated = 3;

  // `clock` must outlive it.
  TimedRule(std::unique_ptr<Rule> rule, std::int64_t limit_ns, const Clock& clock)
      : rule_(std::move(rule)), limit_ns_(limit_ns), clock_(clock) {}

  Verdict evaluate(const StepWindow& window) override;
  std::vector<Collection> needs() const override { return rule_->needs(); }

  // Of the last evaluation; an error when it threw.
  Outcome last_outcome() const { return last_outcome_; }
  Severity last_severity() const { return last_severity_; }

 private:
  const std::unique_ptr<Rule> rule_;
  const std::int64_t limit_ns_;
  const Clock& clock_;
  int slow_in_a_row_ = 0;
  Outcome last_outcome_ = Outcome::kOk;
  Severity last_severity_ = Severity::kInfo;
};

}  // namespace trainwarden::guard
