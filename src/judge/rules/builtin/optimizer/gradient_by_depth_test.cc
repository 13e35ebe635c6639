#include <cmath>

#include <gtest/gtest.h>

#include "judge/rules/builtin/losses/loss_testing.h"
#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

const std::string kModel = R"({"modules": [{"name": "", "kind": "Net"}, {"name": "stem", "kind": "Linear"},
  {"name": "body", "kind": "Linear"}, {"name": "head", "kind": "Linear"}], "parameters": [], "foreign": 0})";

// The norms of stem, body and head (the order of the model), for fifteen steps.
Verdicts judge_norms(double stem, double body, double head, bool knows_model = true, bool is_gan = false) {
  TestRun run;
  const auto gradient = [](const std::string& name, double norm) {
    return single_reductions("gradient/" + name, {{Reduction::kL2, false, norm}}, {"gradients"});
  };
  for (std::int64_t step = 0; step < 15; ++step) {
    TestStep one{.step = step,
                 .tensors = {gradient("stem.weight", stem), gradient("body.weight", body),
                             gradient("head.weight", head), gradient("stem.bias", 1e-30)}};
    if (knows_model) one.tensors.push_back(strings("trainwarden/model", {kModel}, {"signals"}));
    if (is_gan) one.tensors.push_back(two_optimizers());
    run.add(one);
  }
  return judge(run, "GradientByDepth");
}

TEST(GradientByDepth, VanishingTowardsTheFirst) {
  const auto verdicts = judge_norms(9e-5, 1e-3, 0.1);
  ASSERT_EQ(steps_with(verdicts, Outcome::kFired).front(), 9);
  const Verdict& verdict = verdicts.at(9);
  EXPECT_EQ(verdict.evidence.at(0).tensor, "gradient/stem.weight");
  EXPECT_EQ(verdict.evidence.at(0).quantity, "ratio_to_last");
  EXPECT_NEAR(verdict.evidence.at(0).value, 9e-4, 1e-9);
  EXPECT_EQ(verdict.confidence, 1);
  EXPECT_NE(verdict.message.find("vanish"), std::string::npos) << verdict.message;
}

TEST(GradientByDepth, ExplodingTowardsTheFirst) {
  const auto verdicts = judge_norms(80, 9, 1);
  ASSERT_FALSE(steps_with(verdicts, Outcome::kFired).empty());
  EXPECT_EQ(verdicts.at(9).evidence.at(0).threshold, 70);
  EXPECT_NE(verdicts.at(9).message.find("explode"), std::string::npos) << verdicts.at(9).message;
}

TEST(GradientByDepth, WhatDoesNotFire) {
  EXPECT_EQ(steps_with(judge_norms(1e-4, 1e-3, 1), Outcome::kOk).size(), 15u);     // not below the norm
  EXPECT_EQ(steps_with(judge_norms(9e-5, 1e-3, 0.09), Outcome::kOk).size(), 15u);  // not below the ratio
  EXPECT_EQ(steps_with(judge_norms(70, 9, 1), Outcome::kOk).size(), 15u);
  EXPECT_EQ(steps_with(judge_norms(80, 0.5, 1), Outcome::kOk).size(), 15u);  // one wide layer
  EXPECT_EQ(steps_with(judge_norms(0.9, 0.1, 0.01), Outcome::kOk).size(), 15u);
  EXPECT_EQ(steps_with(judge_norms(1, 9, 80), Outcome::kOk).size(), 15u);
}

TEST(GradientByDepth, TheOrderOfNamesIsAGuess) {
  // By name body comes first and stem last.
  const auto verdicts = judge_norms(0.1, 9e-5, 1e-3, false);
  ASSERT_FALSE(steps_with(verdicts, Outcome::kFired).empty());
  EXPECT_EQ(verdicts.at(9).evidence.at(0).tensor, "gradient/body.weight");
  EXPECT_EQ(verdicts.at(9).confidence, 0.6);
}

TEST(GradientByDepth, ZeroAndNaNAreLeftOut) {
  EXPECT_EQ(steps_with(judge_norms(0, 1e-3, 1), Outcome::kInsufficientData).size(), 15u);
  EXPECT_EQ(steps_with(judge_norms(NAN, 1e-3, 1), Outcome::kInsufficientData).size(), 15u);
  EXPECT_EQ(steps_with(judge_norms(9e-5, 1e-3, 1, true, true), Outcome::kNotApplicable).size(), 15u);
}

TEST(GradientByDepth, BadParameters) {
  for (const char* spec :
       {"GradientByDepth:checks=0", "GradientByDepth:vanishing_ratio=-1", "GradientByDepth:exploding_ratio=0"}) {
    EXPECT_EQ(create_rule(*parse_rule_spec(spec)).status().code(), Code::kInvalidArgument) << spec;
  }
}

}  // namespace
}  // namespace trainwarden::rules
