// RecurringPhaseRule: what the rules over a phase have in common that comes now and then, and can be had more seldom.
#pragma once

#include "judge/rules/builtin/profiler/phase_rule.h"
#include "judge/rules/builtin/profiler/recurring_phase.h"

namespace trainwarden::rules {

// How a rule speaks of its phase.
struct RecurringWords {
  Phase phase;
  const char* doing;  // begins the message: "Saving checkpoints"
  const char* noun;   // "checkpoint"; names the evidence
  const char* advice;
};

class RecurringPhaseRule final : public PhaseRule {
 public:
  // The words must outlive this.
  RecurringPhaseRule(const PhaseLimits& limits, const RecurringWords& words)
      : PhaseRule(limits), words_(words), phase_(words.phase) {}

 private:
  void look_at(const StepWindow&) override { phase_.take(shares()); }
  Verdict judge(const StepWindow& window) override;
  Verdict none_yet() const;

  const RecurringWords& words_;
  RecurringPhase phase_;
};

// phase_limit_parameters() of such a rule, whose `min_seconds` counts each time.
std::vector<RuleParameter> recurring_phase_parameters(std::string share, std::string seconds_each);

}  // namespace trainwarden::rules
