#include "hook/capture/step_judging.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hook/capture/part_testing.h"

namespace trainwarden::capture {
namespace {

// A judge that does what the test says.
class ScriptedJudge : public StepJudge {
 public:
  struct Script {
    std::function<StepAdvice(const OpenStep& step)> judge;
    int ended = 0;
    std::string reason = "the loss is not a number";
  };
  explicit ScriptedJudge(Script& script) : script_(script) {}

  std::vector<Collection> needs() const override { return {}; }
  bool may_veto() const override { return true; }
  std::string announcement() const override { return R"({"type": "a judge"})"; }
  StepAdvice judge(const OpenStep& step) override { return script_.judge(step); }
  StepAdvice step_ends(const OpenStep&) override {
    ++script_.ended;
    return StepAdvice::kProceed;
  }
  const std::string& reason() const override { return script_.reason; }
  std::uint64_t vetoes() const override { return 3; }
  void write() override {}
  void finish() override {}

 private:
  Script& script_;
};

class StepJudgingTest : public WrittenStepTest {
 protected:
  Status install() {
    const MakeJudge make = [&](const JudgeSite&) -> Result<std::unique_ptr<StepJudge>> {
      return std::unique_ptr<StepJudge>(std::make_unique<ScriptedJudge>(script_));
    };
    return judging_.install(make, {nullptr, system_clock(), "rank-00000"});
  }

  BoxRecorder box_{0, tensors_, *staging_, bill_, state_, writer_};
  StepIntake intake_ = intake(WhenFull::kDrop);
  DeviceKeeper keeper_{devices_, intake_};
  ScriptedJudge::Script script_;
  StepJudging judging_{{.tensors = tensors_,
                        .step = step_,
                        .devices = keeper_,
                        .box = box_,
                        .bill = bill_,
                        .state = state_,
                        .counter = counter_,
                        .clock = system_clock(),
                        .writer = writer_}};
};

TEST_F(StepJudgingTest, WithoutAJudgeEveryStepProceeds) {
  EXPECT_FALSE(judging_.has_judge());
  EXPECT_EQ(judging_.judge_step(), StepAdvice::kProceed);
  judging_.step_ends();
  EXPECT_EQ(judging_.reason(), "");
  EXPECT_EQ(judging_.vetoes(), 0u);
}

TEST_F(StepJudgingTest, TheJudgeSeesWhatIsInTheOpenStep) {
  ASSERT_TRUE(install().ok());
  counter_.start_at(12, {});
  step_.add_scalar(*tensors_.find_or_add("loss"), 2.5);
  double seen = 0;
  script_.judge = [&](const OpenStep& step) {
    EXPECT_EQ(step.id().global_step, 12);
    EXPECT_TRUE(judging_.is_asking());
    for (const journal::ScalarRow& row : step.scalars()) {
      if (step.name_of(row.id) == "loss") seen = row.value;
    }
    return StepAdvice::kSkipStep;
  };
  EXPECT_EQ(judging_.judge_step(), StepAdvice::kSkipStep);
  EXPECT_EQ(seen, 2.5);
  EXPECT_FALSE(judging_.is_asking());
  EXPECT_EQ(writer_.stop(), nullptr) << "to skip a step is not to stop";
}

TEST_F(StepJudgingTest, AJudgeThatWantsToStopAsksTheRunInItsOwnName) {
  ASSERT_TRUE(install().ok());
  counter_.start_at(7, {});
  script_.judge = [](const OpenStep&) { return StepAdvice::kStop; };
  EXPECT_EQ(judging_.judge_step(), StepAdvice::kStop);
  const format::StopRequest* const stop = writer_.stop();
  ASSERT_NE(stop, nullptr);
  EXPECT_EQ(stop->key, "guard-7");
  EXPECT_EQ(stop->reason, script_.reason);
  EXPECT_EQ(stop->requested_by, "guard");
}

TEST_F(StepJudgingTest, AJudgeIsNotAskedWhileItAnswers) {
  ASSERT_TRUE(install().ok());
  int asked = 0;
  script_.judge = [&](const OpenStep&) {
    ++asked;
    EXPECT_EQ(judging_.judge_step(), StepAdvice::kProceed);
    judging_.step_ends();
    return StepAdvice::kProceed;
  };
  judging_.judge_step();
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(script_.ended, 0);
  judging_.step_ends();
  EXPECT_EQ(script_.ended, 1);
}

TEST_F(StepJudgingTest, AJudgeThatFailsIsAskedAgainNextTime) {
  ASSERT_TRUE(install().ok());
  script_.judge = [](const OpenStep&) -> StepAdvice { throw std::bad_alloc(); };
  EXPECT_THROW(judging_.judge_step(), std::bad_alloc);
  EXPECT_FALSE(judging_.is_asking());
  script_.judge = [](const OpenStep&) { return StepAdvice::kSkipStep; };
  EXPECT_EQ(judging_.judge_step(), StepAdvice::kSkipStep);
}

TEST_F(StepJudgingTest, AHookThatIsOffIsNotJudged) {
  ASSERT_TRUE(install().ok());
  script_.judge = [](const OpenStep&) { return StepAdvice::kStop; };
  state_.switch_off("closed");
  EXPECT_EQ(judging_.judge_step(), StepAdvice::kProceed);
  EXPECT_EQ(writer_.stop(), nullptr);
}

TEST_F(StepJudgingTest, ThereIsOneJudge) {
  ASSERT_TRUE(install().ok());
  EXPECT_EQ(install().code(), Code::kAlreadyExists);
  EXPECT_EQ(judging_.vetoes(), 3u);
}

}  // namespace
}  // namespace trainwarden::capture
