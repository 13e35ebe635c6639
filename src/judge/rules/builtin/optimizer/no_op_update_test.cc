#include <cmath>

#include <gtest/gtest.h>

#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

using Steps = std::vector<std::int64_t>;

const std::string kNoOpModel = R"({"modules": [], "foreign": 0, "parameters": [
  {"name": "a.weight", "trainable": true, "optimized": true}, {"name": "b.weight", "trainable": true, "optimized": true},
  {"name": "c.weight", "trainable": true, "optimized": true},
  {"name": "frozen.weight", "trainable": false, "optimized": false}]})";

struct Shown {
  bool b_moves = true;
  float b_weight = 0.123F;
  std::vector<float> b_gradient = {0.5F};  // empty: none
  float rate = 0.1F;                       // negative: no signal
  bool is_skipped = false;
  bool frozen_has_gradient = false;
};

// Forty steps of three parameters, of which a and c are healthy.
TestRun no_op_run(const Shown& shown) {
  TestRun run;
  for (std::int64_t step = 0; step < 40; ++step) {
    const auto moving = 0.1F + static_cast<float>(step);
    TestStep one{
        .step = step,
        .tensors = {summarised("a.weight", {moving}, {"weights"}), summarised("c.weight", {moving}, {"weights"}),
                    summarised("b.weight", {shown.b_moves ? moving : shown.b_weight}, {"weights"}),
                    summarised("frozen.weight", {1}, {"weights"}), reduced("gradient/a.weight", {1}, {"gradients"}),
                    reduced("gradient/c.weight", {1}, {"gradients"}),
                    strings("trainwarden/model", {kNoOpModel}, {"signals"})}};
    if (!shown.b_gradient.empty()) one.tensors.push_back(reduced("gradient/b.weight", shown.b_gradient, {"gradients"}));
    if (shown.rate >= 0) one.tensors.push_back(scalar("trainwarden/learning_rate/0", shown.rate, {"signals"}));
    if (shown.is_skipped) one.tensors.push_back(scalar("trainwarden/amp/skipped", 1, {"signals"}));
    if (shown.frozen_has_gradient) one.tensors.push_back(reduced("gradient/frozen.weight", {0}, {"gradients"}));
    run.add(one);
  }
  return run;
}

Verdicts judge_shown(const Shown& shown) {
  return judge(no_op_run(shown), "NoOpUpdate");
}

TEST(NoOpUpdate, HealthyParametersAreOk) {
  EXPECT_EQ(steps_with(judge_shown({.frozen_has_gradient = true}), Outcome::kOk).size(), 40u);
}

TEST(NoOpUpdate, AParameterThatStandsStill) {
  const auto verdicts = judge_shown({.b_moves = false});
  ASSERT_EQ(steps_with(verdicts, Outcome::kFired).front(), 30);  // the first of 30 steps that change nothing is step 1
  const Verdict& verdict = verdicts.at(30);
  EXPECT_EQ(verdict.severity, Severity::kWarning);
  EXPECT_EQ(verdict.confidence, 1);
  ASSERT_EQ(verdict.evidence.size(), 1u);
  EXPECT_EQ(verdict.evidence[0].tensor, "b.weight");
  EXPECT_EQ(verdict.evidence[0].quantity, "steps_unchanged");
  EXPECT_EQ(verdict.evidence[0].value, 30);
  EXPECT_NE(verdict.message.find("1 of 3 parameters"), std::string::npos) << verdict.message;
  EXPECT_EQ(judge_shown({.b_moves = false, .rate = -1}).at(30).confidence, 0.7);
}

TEST(NoOpUpdate, AFewNarrowNumbersThatStandStillAreANote) {
  const auto verdicts = judge_shown({.b_moves = false, .b_weight = 1});
  EXPECT_EQ(verdicts.at(30).severity, Severity::kInfo);
  EXPECT_EQ(verdicts.at(30).evidence.at(0).quantity, "steps_unchanged_of_16_bits");
}

// A bias before a batch norm.
TEST(NoOpUpdate, AGradientOfRoundingAlonePullsNowhere) {
  EXPECT_TRUE(steps_with(judge_shown({.b_moves = false, .b_gradient = {5e-7F}}), Outcome::kFired).empty());
  EXPECT_EQ(judge_shown({.b_moves = false, .b_gradient = {5e-6F}}).at(30).severity, Severity::kWarning);
}

TEST(NoOpUpdate, AGradientOfExactlyZero) {
  const auto verdicts = judge_shown({.b_moves = false, .b_gradient = {0, 0}});
  ASSERT_EQ(steps_with(verdicts, Outcome::kFired).front(), 29);
  EXPECT_EQ(verdicts.at(29).severity, Severity::kWarning);
  EXPECT_EQ(verdicts.at(29).evidence.at(0).quantity, "steps_with_zero_gradient");
}

// The parameters a and b, with these gradients, for 31 steps.
Verdicts judge_pair(const std::string& a, float gradient_a, const std::string& b, float gradient_b) {
  TestRun run;
  for (std::int64_t step = 0; step < 31; ++step) {
    run.add({.step = step,
             .tensors = {summarised(a, {static_cast<float>(step)}, {"weights"}), summarised(b, {0.123F}, {"weights"}),
                         reduced("gradient/" + a, {gradient_a}, {"gradients"}),
                         reduced("gradient/" + b, {gradient_b}, {"gradients"})}});
  }
  return judge(run, "NoOpUpdate");
}

TEST(NoOpUpdate, AZeroGradientOfABiasIsANoteAndOneOfAllIsNothing) {
  EXPECT_EQ(judge_pair("a.weight", 1, "b.weight", 0).at(29).severity, Severity::kWarning);
  EXPECT_EQ(judge_pair("a.weight", 1, "b.bias", 0).at(29).severity, Severity::kInfo);
  EXPECT_TRUE(steps_with(judge_pair("a.weight", 0, "b.weight", 0), Outcome::kFired).empty());
}

TEST(NoOpUpdate, AMissingGradientIsANote) {
  const auto verdicts = judge_shown({.b_moves = false, .b_gradient = {}});
  EXPECT_EQ(verdicts.at(29).severity, Severity::kInfo);
  EXPECT_EQ(verdicts.at(29).evidence.at(0).quantity, "steps_without_gradient");
}

TEST(NoOpUpdate, StepsThatChangeNothingOnPurposeDoNotCount) {
  EXPECT_EQ(steps_with(judge_shown({.b_moves = false, .rate = 0}), Outcome::kInsufficientData).size(), 40u);
  EXPECT_EQ(steps_with(judge_shown({.b_moves = false, .is_skipped = true}), Outcome::kInsufficientData).size(), 40u);
}

TEST(NoOpUpdate, ANaNGradientPullsNowhere) {
  EXPECT_TRUE(steps_with(judge_shown({.b_moves = false, .b_gradient = {NAN}}), Outcome::kFired).empty());
}

TEST(NoOpUpdate, WithoutHashesOrGradientsItIsNotApplicable) {
  TestRun run;
  run.add({.step = 0,
           .tensors = {reduced("w.weight", {1}, {"weights"}), reduced("gradient/w.weight", {1}, {"gradients"})}});
  run.add({.step = 1, .tensors = {summarised("w.weight", {1}, {"weights"})}});
  const auto verdicts = judge(run, "NoOpUpdate");
  EXPECT_EQ(verdicts.at(0).outcome, Outcome::kNotApplicable);
  EXPECT_NE(verdicts.at(0).message.find("has no hash"), std::string::npos) << verdicts.at(0).message;
  EXPECT_EQ(verdicts.at(1).outcome, Outcome::kNotApplicable);
}

TEST(NoOpUpdate, BadParameters) {
  EXPECT_EQ(create_rule(*parse_rule_spec("NoOpUpdate:steps=0")).status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace trainwarden::rules
