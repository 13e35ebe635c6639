#include <cmath>

#include <gtest/gtest.h>

#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

using Steps = std::vector<std::int64_t>;

const std::vector<std::string> kWeights = {"weights"};

TestRun ratio_run(const std::vector<std::vector<float>>& values, std::int64_t interval = 1) {
  TestRun run;
  std::int64_t step = 0;
  for (const auto& value : values) {
    run.add({.step = step, .tensors = {kept("w", value, kWeights)}, .mode = Mode::kTrain});
    step += interval;
  }
  return run;
}

TEST(WeightUpdateRatio, TooMuchAndTooLittle) {
  const auto verdicts = judge(ratio_run({{1, -1}, {2, -2}, {30, -30}, {30, -30}}), "WeightUpdateRatio");
  EXPECT_EQ(verdicts.at(0).outcome, Outcome::kInsufficientData);
  EXPECT_EQ(verdicts.at(1).outcome, Outcome::kOk);  // by as much as its size
  ASSERT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{2, 3}));
  EXPECT_EQ(verdicts.at(2).evidence.at(0).quantity, "update_ratio");
  EXPECT_NEAR(verdicts.at(2).evidence.at(0).value, 14, 1e-6);
  EXPECT_EQ(verdicts.at(2).evidence.at(0).threshold, 10);
  EXPECT_EQ(verdicts.at(3).evidence.at(0).value, 0);
  EXPECT_EQ(verdicts.at(3).evidence.at(0).threshold, 1e-8);
  EXPECT_NE(verdicts.at(3).message.find("too little"), std::string::npos) << verdicts.at(3).message;
}

TEST(WeightUpdateRatio, NumStepsChoosesTheEarlierStep) {
  const TestRun run = ratio_run({{1}, {1}, {1}, {100}, {100}}, 5);  // 0, 5, 10, 15, 20
  EXPECT_EQ(steps_with(judge(run, "WeightUpdateRatio:num_steps=8"), Outcome::kInsufficientData), (Steps{0, 5}));
  const auto verdicts = judge(run, "WeightUpdateRatio:num_steps=8,small_threshold=0");
  EXPECT_EQ(verdicts.at(10).outcome, Outcome::kOk);
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{15, 20}));  // against 5 and 10
}

TEST(WeightUpdateRatio, EpsilonAndThresholds) {
  const TestRun run = ratio_run({{0}, {1}});
  EXPECT_EQ(steps_with(judge(run, "WeightUpdateRatio"), Outcome::kFired), (Steps{1}));
  EXPECT_TRUE(steps_with(judge(run, "WeightUpdateRatio:epsilon=0.1"), Outcome::kFired).empty());  // exactly 10
}

TEST(WeightUpdateRatio, NaNDoesNotFire) {
  EXPECT_TRUE(steps_with(judge(ratio_run({{1}, {NAN}, {1}}), "WeightUpdateRatio"), Outcome::kFired).empty());
}

TEST(WeightUpdateRatio, EvalStepsStatisticsAndOtherShapes) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("w", {1}, kWeights)}, .mode = Mode::kEval});
  run.add({.step = 1, .tensors = {reduced("w", {1}, kWeights)}});
  run.add({.step = 2, .tensors = {kept("w", {1}, kWeights)}});
  run.add({.step = 3, .tensors = {kept("w", {1, 2}, kWeights)}});
  const auto verdicts = judge(run, "WeightUpdateRatio");
  EXPECT_EQ(steps_with(verdicts, Outcome::kNotApplicable), (Steps{0, 1}));
  EXPECT_EQ(steps_with(verdicts, Outcome::kInsufficientData), (Steps{2, 3}));
}

TEST(WeightUpdateRatio, BadParameters) {
  for (const char* spec : {"WeightUpdateRatio:num_steps=0", "WeightUpdateRatio:large_threshold=-1",
                           "WeightUpdateRatio:small_threshold=x", "WeightUpdateRatio:epsilon=-1"}) {
    EXPECT_EQ(create_rule(*parse_rule_spec(spec)).status().code(), Code::kInvalidArgument) << spec;
  }
}

}  // namespace
}  // namespace trainwarden::rules
