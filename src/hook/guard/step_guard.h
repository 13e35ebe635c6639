// StepGuard: rules that judge the open step of a training, and what is done about their verdicts.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "hook/capture/step_judge.h"
#include "hook/guard/guard_journal.h"
#include "hook/guard/live_window.h"
#include "hook/guard/timed_rule.h"
#include "judge/rules/engine.h"
#include "judge/rules/rule_runner.h"
#include "judge/rules/verdict_context.h"
#include "trainwarden/guard.h"

namespace trainwarden::guard {

// When a rule judges, by what it needs.
enum class JudgingTime : std::uint8_t {
  kBeforeOptimizer,  // what there is before an optimizer steps; the whole step when nobody asked before its end
  kStepEnd,          // the whole step, at its end
  kBoth,             // what there is before an optimizer steps, and at the end the rest
};
JudgingTime judging_time(const std::vector<Collection>& needs);

class StepGuard final : public capture::StepJudge {
 public:
  StepGuard(std::vector<rules::EngineRule> rules, GuardOptions options, const capture::JudgeSite& site);

  std::vector<Collection> needs() const override { return needs_; }
  bool may_veto() const override { return options_.on_fire != OnFire::kReport; }
  std::string announcement() const override;
  StepAdvice judge(const capture::OpenStep& step) override;
  StepAdvice step_ends(const capture::OpenStep& step) override;
  const std::string& reason() const override { return reason_; }
  std::uint64_t vetoes() const override { return vetoes_.load(std::memory_order_relaxed); }

  void write() override { journal_.write(); }
  void finish() override;

 private:
  struct Judge {
    rules::RuleRunner* runner = nullptr;
    TimedRule* rule = nullptr;  // the runner's
    JudgingTime time = JudgingTime::kBeforeOptimizer;
    bool muted = false;  // the verdict that it reported last
    int warnings_in_a_row = 0;
  };

  // Asks the rules of which `is_asked` (JudgingTime → bool) says so. `may_veto`: an optimizer is about to step.
  template <class IsAsked>
  StepAdvice ask(const LiveWindow& window, bool may_veto, IsAsked is_asked);
  StepAdvice answer_of(Judge& judge, bool may_veto) const;
  void begin_step(const capture::OpenStep& step);
  void count_warnings(Judge& judge) const;
  void attribute(Judge& judge, rules::RuleNews& news) const;
  void record(const rules::RuleNews& news, StepAdvice answer);
  void record_action(const rules::VerdictRecord& verdict, StepAdvice answer);

  const GuardOptions options_;
  const Clock& clock_;
  std::vector<Collection> needs_;  // of all rules
  LiveMemory memory_;
  std::deque<rules::RuleRunner> runners_;
  rules::Consequences consequences_;
  std::vector<Judge> judges_;
  GuardJournal journal_;
  std::string reason_;
  std::atomic<std::uint64_t> vetoes_ = 0;

  std::int64_t step_ = -1;  // global, that of the following
  bool asked_ = false;      // judge() was called
  RowMark seen_;            // by judge()
};

}  // namespace trainwarden::guard
