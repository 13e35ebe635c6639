#include "ui/views/what_if.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "judge/rules/engine.h"
#include "judge/rules/registry.h"

namespace trainwarden::views {
namespace {

// Ends the judging when the limits are reached.
class Budget {
 public:
  explicit Budget(const WhatIfLimits& limits)
      : steps_(limits.steps), end_ns_(system_clock().steady_ns() + std::chrono::nanoseconds(limits.time).count()) {}

  // Of several rules that judge the same step one pays.
  void spend(std::int64_t step) {
    if (step == last_step_) return;
    last_step_ = step;
    ++judged_;
    if (judged_ >= steps_) end(WhatIf::Cut::kSteps);
    if (system_clock().steady_ns() >= end_ns_) end(WhatIf::Cut::kTime);
  }
  std::stop_token stop() const { return stop_.get_token(); }
  std::uint64_t judged() const { return judged_; }
  WhatIf::Cut cut() const { return cut_; }

 private:
  void end(WhatIf::Cut cut) {
    if (cut_ == WhatIf::Cut::kNone) cut_ = cut;
    stop_.request_stop();
  }

  const std::uint64_t steps_;
  const std::int64_t end_ns_;
  std::int64_t last_step_ = -1;
  std::uint64_t judged_ = 0;
  WhatIf::Cut cut_ = WhatIf::Cut::kNone;
  std::stop_source stop_;
};

// Passes on what a rule says, and writes down where it fired.
class Noting final : public Rule {
 public:
  Noting(RuleSpec spec, std::unique_ptr<Rule> rule, std::size_t listed, JudgedAgain& into, Budget& budget)
      : spec_(std::move(spec)), rule_(std::move(rule)), listed_(listed), into_(into), budget_(budget) {}

  Verdict evaluate(const StepWindow& window) override {
    budget_.spend(window.global_step());
    Verdict verdict = rule_->evaluate(window);
    if (verdict.outcome == Outcome::kFired) take(verdict, window);
    return verdict;
  }

 private:
  void take(const Verdict& verdict, const StepWindow& window) {
    const bool note = verdict.severity == Severity::kInfo;
    ++(note ? into_.noted : into_.fired);
    std::vector<std::int64_t>& steps = note ? into_.noted_steps : into_.fired_steps;
    if (steps.size() < listed_) steps.push_back(window.global_step());
    if (note || into_.first) return;
    into_.first =
        rules::VerdictRecord{spec_.name, spec_.name, spec_.parameters, rules::place_of(window), 0, verdict, "", false};
  }

  const RuleSpec spec_;
  const std::unique_ptr<Rule> rule_;
  const std::size_t listed_;
  JudgedAgain& into_;
  Budget& budget_;
};

// A request names the rule and its parameters, so that they are to lead to nothing but the run that is looked at.
Result<const RuleKind*> kind_of(const std::string& rule) {
  if (const RuleKind* kind = rules::find_run_rule(rule)) return kind;
  if (rules::find_builtin(rule) == nullptr) {
    return Status(Code::kInvalidArgument, fmt::format("expected a rule that comes with Trainwarden, found \"{}\"; "
                                                      "judge by one of your own with `trainwarden check`",
                                                      printable(rule)));
  }
  return Status(Code::kInvalidArgument, fmt::format("{} reads files beside the run, which is not done for a page; "
                                                    "judge by it with `trainwarden check`",
                                                    rule));
}

Result<rules::EngineRule> noting_rule(const RuleKind& kind, const RuleParameters& parameters,
                                      const WhatIfLimits& limits, JudgedAgain& into, Budget& budget) {
  TRAINWARDEN_ASSIGN_OR_RETURN(auto rule, rules::create_builtin(kind, parameters));
  into.parameters = parameters;
  const RuleSpec spec{kind.description.name, parameters};
  return rules::EngineRule{spec, std::make_unique<Noting>(spec, std::move(rule), limits.listed, into, budget), {}};
}

}  // namespace

Result<WhatIf> judge_what_if(Trial& trial, const RuleSpec& now, const RuleParameters& changed,
                             const WhatIfLimits& limits) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const RuleKind* kind, kind_of(now.name));
  WhatIf answer;
  Budget budget(limits);
  std::vector<rules::EngineRule> pair(2);
  TRAINWARDEN_ASSIGN_OR_RETURN(pair[0], noting_rule(*kind, now.parameters, limits, answer.now, budget));
  TRAINWARDEN_ASSIGN_OR_RETURN(pair[1], noting_rule(*kind, changed, limits, answer.changed, budget));
  rules::EngineOptions options;
  options.keep_going = true;
  rules::Engine engine(trial, std::move(pair), options);
  TRAINWARDEN_RETURN_IF_ERROR(engine.poll(budget.stop()));
  const std::vector<std::int64_t> steps = trial.complete_steps_after(-1);
  answer.steps = steps.size();
  answer.judged_steps = budget.judged();
  answer.first_step = steps.empty() ? -1 : steps.front();
  answer.last_step = engine.last_judged_step();
  if (answer.last_step < trial.last_complete_step()) answer.cut = budget.cut();
  const auto statuses = engine.statuses();
  answer.now.status = statuses[0];
  answer.changed.status = statuses[1];
  return answer;
}

}  // namespace trainwarden::views
