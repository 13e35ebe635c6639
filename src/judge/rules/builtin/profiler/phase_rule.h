// PhaseRule: what the rules over phases have in common: how much of a training must be known before one is judged.
#pragma once

#include <optional>
#include <vector>

#include "judge/rules/builtin/profiler/phase_shares.h"
#include "judge/rules/parameters.h"
#include "trainwarden/rule.h"

namespace trainwarden::rules {

struct PhaseLimits {
  double share = 0;             // of the train steps' wall time that is put up with
  double seconds_a_step = 0;    // a smaller cost is put up with
  double training_seconds = 0;  // of train steps that must be known
};
// Reads `threshold`, `min_seconds` and `min_training_seconds`.
PhaseLimits read_phase_limits(ParameterReader& read);
// As the reference shows them.
std::vector<RuleParameter> phase_limit_parameters(std::string share, std::string seconds_a_step,
                                                  std::string training_seconds = "2");

class PhaseRule : public Rule {
 public:
  explicit PhaseRule(const PhaseLimits& limits) : limits_(limits) {}

  // Takes the step in, and judges when enough is known.
  Verdict evaluate(const StepWindow& window) final;
  std::vector<Collection> needs() const override;

 protected:
  // A budget leaves most steps of a short training undivided; what is totalled is known of all of them.
  static constexpr double kFewestSteps = 20;
  static constexpr std::size_t kFewestDivided = 8;

  virtual Verdict judge(const StepWindow& window) = 0;
  // Before judge(), for each step with phases.
  virtual void look_at(const StepWindow&) {}

  const PhaseLimits& limits() const { return limits_; }
  const PhaseShares& shares() const { return shares_; }
  bool is_worth_it(const ShareRange& share, double seconds_a_step) const {
    return share.mean >= limits_.share && seconds_a_step >= limits_.seconds_a_step;
  }
  static Evidence own(const char* quantity, double value, double threshold, const StepWindow& window) {
    return {"", "", quantity, value, threshold, window.global_step()};
  }

 private:
  const PhaseLimits limits_;
  PhaseShares shares_;
};

// "12.3 ms" of seconds.
std::string seconds_text(double seconds);

}  // namespace trainwarden::rules
