#include "hook/capture/step_judging.h"

#include <utility>

#include <fmt/format.h>

namespace trainwarden::capture {
namespace {

// Sets a flag as long as it lives.
class FlagSet {
 public:
  explicit FlagSet(bool& flag) : flag_(flag) { flag_ = true; }
  ~FlagSet() { flag_ = false; }
  FlagSet(const FlagSet&) = delete;
  FlagSet& operator=(const FlagSet&) = delete;

 private:
  bool& flag_;
};

}  // namespace

Status StepJudging::install(const MakeJudge& make, JudgeSite site) {
  if (has_judge()) return Status(Code::kAlreadyExists, "this hook has a judge");
  TRAINWARDEN_ASSIGN_OR_RETURN(auto judge, make(std::move(site)));
  TRAINWARDEN_RETURN_IF_ERROR(around_.tensors.plan().require(judge->needs(), !judge->may_veto()));
  judge_ = std::move(judge);
  around_.tensors.update_memberships();
  return Status();
}

void StepJudging::announce() {
  around_.writer.enqueue(judge_->announcement(), around_.tensors.plan().collections());
  around_.writer.set_judge(judge_.get());
}

StepAdvice StepJudging::judge_step() {
  return ask(&StepJudge::judge);
}

void StepJudging::step_ends() {
  ask(&StepJudge::step_ends);
}

// What a judge does not get to see when it fails is not vetoed.
StepAdvice StepJudging::ask(StepAdvice (StepJudge::*question)(const OpenStep& step)) {
  if (!has_judge() || !around_.state.is_on() || asking_) return StepAdvice::kProceed;
  const Bill::Timer timer(around_.bill);
  const FlagSet asking(asking_);
  around_.devices.settle_open_step();
  StepAdvice advice = StepAdvice::kProceed;
  around_.step.look_into([&](StagedStep& step) {
    const OpenStep open(around_.counter.current(), step, around_.tensors.table(), around_.tensors.plan());
    advice = ((*judge_).*question)(open);
  });
  act_on(advice);
  return advice;
}

void StepJudging::act_on(StepAdvice advice) {
  if (advice == StepAdvice::kProceed) return;
  const std::int64_t step = around_.counter.current().global_step;
  around_.box.dump({.kind = "rule", .message = judge_->reason(), .failing_step = step});
  if (advice != StepAdvice::kStop) return;
  around_.writer.stop({fmt::format("guard-{}", step), judge_->reason(), "guard", around_.clock.unix_ns()});
}

}  // namespace trainwarden::capture
