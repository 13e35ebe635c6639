#include <cmath>

#include <gtest/gtest.h>

#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

using Steps = std::vector<std::int64_t>;

Verdicts judge_rates(const std::vector<std::vector<float>>& steps, std::string_view spec = "LearningRateJump") {
  TestRun run;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    TestStep one{.step = static_cast<std::int64_t>(step)};
    for (std::size_t group = 0; group < steps[step].size(); ++group) {
      one.tensors.push_back(
          scalar("trainwarden/learning_rate/" + std::to_string(group), steps[step][group], {"signals"}));
    }
    run.add(one);
  }
  return judge(run, spec);
}

TEST(LearningRateJump, ARiseHigherThanEver) {
  const auto verdicts = judge_rates({{0.01F}, {0.01F}, {0.1F}, {0.1F}});
  ASSERT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{2}));
  EXPECT_EQ(verdicts.at(2).severity, Severity::kWarning);
  EXPECT_EQ(verdicts.at(2).evidence.at(0).tensor, "trainwarden/learning_rate/0");
  EXPECT_EQ(verdicts.at(2).evidence.at(0).quantity, "rise");
  EXPECT_NEAR(verdicts.at(2).evidence.at(0).value, 10, 1e-4);
  EXPECT_TRUE(steps_with(judge_rates({{0.01F}, {0.099F}}), Outcome::kFired).empty());
  EXPECT_EQ(steps_with(judge_rates({{0.01F}, {0.04F}}, "LearningRateJump:jump=3"), Outcome::kFired), (Steps{1}));
}

TEST(LearningRateJump, SchedulesThatAreFine) {
  const std::vector<std::vector<std::vector<float>>> fine = {
      {{0}, {0.01F}, {0.02F}, {0.03F}},             // warm-up from 0
      {{0.1F}, {0.01F}, {0.001F}},                  // a tenth at a time
      {{0.1F}, {0.03F}, {0.01F}, {0.1F}},           // warm restart
      {{0.01F}, {0.01F, 1.0F}, {0.01F, 1.0F}},      // a new group
      {{0.01F, 0}, {0.01F, 0.1F}, {0.01F, 0.1F}}};  // a group that was frozen
  for (const auto& schedule : fine) EXPECT_TRUE(steps_with(judge_rates(schedule), Outcome::kFired).empty());
}

TEST(LearningRateJump, WarmUpsFromNextToNothingAndFallsAreNotes) {
  const auto warm_up = judge_rates({{1e-6F}, {1e-4F}, {2e-4F}});
  EXPECT_EQ(steps_with(warm_up, Outcome::kFired), (Steps{1}));
  EXPECT_EQ(warm_up.at(1).severity, Severity::kInfo);
  EXPECT_EQ(judge_rates({{1e-4F}, {1e-2F}}).at(1).severity, Severity::kWarning);
  const auto fall = judge_rates({{0.1F}, {0.001F}});
  EXPECT_EQ(fall.at(1).severity, Severity::kInfo);
  EXPECT_EQ(fall.at(1).evidence.at(0).quantity, "fall");
}

TEST(LearningRateJump, AWarmUpThatIsLookedAtNowAndThenIsANote) {
  const auto judge_at = [](const std::vector<std::pair<std::int64_t, float>>& looks) {
    TestRun run;
    for (const auto& [step, rate] : looks)
      run.add({.step = step, .tensors = {scalar("trainwarden/learning_rate/0", rate, {"signals"})}});
    return judge(run, "LearningRateJump").at(looks.back().first).severity;
  };
  EXPECT_EQ(judge_at({{0, 0.001F}, {4, 0.002F}, {100, 0.04F}}), Severity::kInfo);
  EXPECT_EQ(judge_at({{0, 0.002F}, {50, 0.002F}, {100, 0.04F}}), Severity::kWarning);  // it was flat, and jumped
  EXPECT_EQ(judge_at({{0, 0.001F}, {4, 0.002F}, {6, 0.04F}}), Severity::kWarning);
}

TEST(LearningRateJump, NoRateAtAll) {
  for (const float rate : {NAN, -0.1F, INFINITY}) {
    const auto verdicts = judge_rates({{0.1F}, {0.1F, rate}});
    EXPECT_EQ(verdicts.at(1).severity, Severity::kError) << rate;
    EXPECT_EQ(verdicts.at(1).evidence.at(0).tensor, "trainwarden/learning_rate/1");
  }
}

TEST(LearningRateJump, ZeroForLong) {
  const std::vector<std::vector<float>> zeros(25, {0, 0});
  EXPECT_EQ(steps_with(judge_rates(zeros), Outcome::kFired).front(), 19);
  const std::vector<std::vector<float>> one_group(25, {0, 0.1F});
  EXPECT_TRUE(steps_with(judge_rates(one_group), Outcome::kFired).empty());
}

TEST(LearningRateJump, NotApplicableWithoutRates) {
  EXPECT_EQ(judge_rates({{}}).at(0).outcome, Outcome::kNotApplicable);
}

TEST(LearningRateJump, BadParameters) {
  for (const char* spec :
       {"LearningRateJump:jump=0", "LearningRateJump:zero_steps=0", "LearningRateJump:least_rate=-1"}) {
    EXPECT_EQ(create_rule(*parse_rule_spec(spec)).status().code(), Code::kInvalidArgument) << spec;
  }
}

}  // namespace
}  // namespace trainwarden::rules
