#include <cmath>

#include <gtest/gtest.h>

#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

TestTensor half(std::string name, std::vector<float> values, std::string collection = "outputs") {
  return in_half(reduced(std::move(name), std::move(values), {std::move(collection)}), DType::kFloat16);
}

TestTensor brain(std::vector<float> values) {
  return in_half(reduced("x_output_0", std::move(values), {"outputs"}), DType::kBFloat16);
}

// One step for each magnitude.
TestRun run_of(const std::vector<TestTensor>& tensors) {
  TestRun run;
  std::int64_t step = 0;
  for (const TestTensor& tensor : tensors) run.add({.step = step++, .tensors = {tensor}});
  return run;
}

std::vector<TestTensor> brains(const std::vector<float>& magnitudes) {
  std::vector<TestTensor> all;
  for (const float magnitude : magnitudes) all.push_back(brain({1, -magnitude}));
  return all;
}

TEST(OverflowRisk, FiresAboveATenthOfTheLargestFloat16) {
  const TestRun run = run_of({half("x_output_0", {1, 6548}), half("x_output_0", {1, 6552})});
  const auto verdicts = judge(run, "OverflowRisk");
  EXPECT_EQ(verdicts.at(0).outcome, Outcome::kOk);
  const Verdict& fired = verdicts.at(1);
  ASSERT_EQ(fired.outcome, Outcome::kFired);
  EXPECT_EQ(fired.severity, Severity::kWarning);
  EXPECT_LT(fired.confidence, 1);
  EXPECT_EQ(fired.evidence.at(0).tensor, "x_output_0");
  EXPECT_EQ(fired.evidence.at(0).quantity, "abs_max");
  EXPECT_EQ(fired.evidence.at(0).value, 6552);
  EXPECT_DOUBLE_EQ(fired.evidence.at(0).threshold, 6550.4);
  EXPECT_NE(fired.message.find("largest float16 (65504)"), std::string::npos) << fired.message;
  EXPECT_EQ(judge(run, "OverflowRisk:share=0.2").at(1).outcome, Outcome::kOk);
}

TEST(OverflowRisk, EachFormThatTellsTheTypeIsJudged) {
  TestTensor kept_whole = in_half(kept("x_output_0", {20000}, {"outputs"}), DType::kFloat16);
  EXPECT_EQ(judge(run_of({kept_whole}), "OverflowRisk").at(0).outcome, Outcome::kFired);
  TestTensor shape = in_half(shape_only("x_output_0", {20000}, {"outputs"}), DType::kFloat16);
  EXPECT_EQ(judge(run_of({shape}), "OverflowRisk").at(0).outcome, Outcome::kNotApplicable);
  const TestRun single = run_of({single_reductions("x_output_0", {{Reduction::kMax, true, 20000}}, {"outputs"})});
  const Verdict verdict = judge(single, "OverflowRisk").at(0);
  EXPECT_EQ(verdict.outcome, Outcome::kNotApplicable);
  EXPECT_NE(verdict.message.find("dtype"), std::string::npos) << verdict.message;
}

TEST(OverflowRisk, BFloat16HasItsOwnLimit) {
  const auto verdicts = judge(run_of({brain({60000}), brain({3e37F}), brain({3.5e37F})}), "OverflowRisk");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (std::vector<std::int64_t>{2}));
}

TEST(OverflowRisk, FiresAfterFiveChecksOfGrowth) {
  const auto verdicts = judge(run_of(brains({128, 320, 768, 1792, 4096, 8448, 8448})), "OverflowRisk");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (std::vector<std::int64_t>{5}));
  const Verdict& fired = verdicts.at(5);
  EXPECT_EQ(fired.evidence.at(0).quantity, "growth");
  EXPECT_NEAR(fired.evidence.at(0).value, std::pow(66.0, 0.2), 1e-9);
  EXPECT_EQ(fired.evidence.at(0).threshold, 2);
  EXPECT_NE(fired.message.find("from 128 to 8448 in 5 checks"), std::string::npos) << fired.message;
}

TEST(OverflowRisk, ExactlyTwofoldOrInterruptedGrowthIsNone) {
  const auto exact = judge(run_of(brains({128, 256, 512, 1024, 2048, 4096, 8192})), "OverflowRisk");
  EXPECT_TRUE(steps_with(exact, Outcome::kFired).empty());
  const auto interrupted = judge(run_of(brains({128, 320, 768, 1792, 1792, 4096, 8448, 20480, 49152})), "OverflowRisk");
  EXPECT_TRUE(steps_with(interrupted, Outcome::kFired).empty());
}

TEST(OverflowRisk, GrowthFromNextToNothingDoesNotCount) {
  const auto verdicts = judge(run_of(brains({0, 1, 3, 7, 15, 31, 64, 98, 200, 408, 824, 1664})), "OverflowRisk");
  EXPECT_TRUE(steps_with(verdicts, Outcome::kFired).empty());
}

TEST(OverflowRisk, Float32IsJudgedOnlyWhenATypeIsNamed) {
  const TestRun run = run_of({reduced("x_output_0", {20000}, {"outputs"})});
  const Verdict silent = judge(run, "OverflowRisk").at(0);
  EXPECT_EQ(silent.outcome, Outcome::kNotApplicable);
  EXPECT_NE(silent.message.find("limit_dtype"), std::string::npos) << silent.message;
  EXPECT_EQ(judge(run, "OverflowRisk:limit_dtype=float16").at(0).outcome, Outcome::kFired);
  EXPECT_EQ(judge(run, "OverflowRisk:limit_dtype=bfloat16").at(0).outcome, Outcome::kOk);
}

TEST(OverflowRisk, GradientsAreJudgedOnlyWhenAskedForAndNotUnderALossScale) {
  TestRun run;
  run.add({.step = 0, .tensors = {half("gradient/a", {20000}, "gradients")}});
  run.add({.step = 1,
           .tensors = {half("gradient/a", {20000}, "gradients"), scalar("trainwarden/amp/scale", 1024, {"signals"})}});
  run.add({.step = 2, .tensors = {half("gradient/a", {20000}, "gradients")}});
  EXPECT_EQ(judge(run, "OverflowRisk").at(0).outcome, Outcome::kNotApplicable);
  const auto verdicts = judge(run, "OverflowRisk:collection_names=gradients");
  EXPECT_EQ(verdicts.at(0).outcome, Outcome::kFired);
  EXPECT_EQ(verdicts.at(1).outcome, Outcome::kNotApplicable);
  EXPECT_EQ(verdicts.at(2).outcome, Outcome::kNotApplicable);
  EXPECT_NE(verdicts.at(2).message.find("loss scale"), std::string::npos) << verdicts.at(2).message;
}

TEST(OverflowRisk, MasksInOutputsArePassed) {
  const TestRun run = run_of({half("x_output_0", {1, -65504}), half("x_output_0", {7000, -65504}),
                              half("x_output_0", {1, -65504}), half("a.weight", {1, -65504}, "weights")});
  EXPECT_EQ(steps_with(judge(run, "OverflowRisk"), Outcome::kFired), (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(judge(run, "OverflowRisk:allow_masks=False").at(0).outcome, Outcome::kFired);
}

TEST(OverflowRisk, WhatIsNotFiniteIsLeftToOthers) {
  TestTensor nan = half("x_output_0", {1});
  nan.halves = {0x7e00, 0x7c00};
  TestTensor partly = half("x_output_0", {20000});
  partly.halves.push_back(0x7c00);
  const auto verdicts = judge(run_of({nan, partly}), "OverflowRisk");
  EXPECT_EQ(verdicts.at(0).outcome, Outcome::kInsufficientData);
  EXPECT_EQ(verdicts.at(1).outcome, Outcome::kFired);
  EXPECT_EQ(verdicts.at(1).evidence.at(0).value, 20000);
}

TEST(OverflowRisk, TheNearestToItsLimitComesFirst) {
  TestRun run;
  run.add({.step = 0, .tensors = {half("a", {8192}), half("b", {32768}), half("c", {16384})}});
  const Verdict verdict = judge(run, "OverflowRisk").at(0);
  ASSERT_EQ(verdict.evidence.size(), 3u);
  EXPECT_EQ(verdict.evidence[0].tensor, "b");
  EXPECT_EQ(verdict.evidence[1].tensor, "c");
  EXPECT_NE(verdict.message.find("3 tensors"), std::string::npos) << verdict.message;
}

TEST(OverflowRisk, NothingCapturedIsNotApplicable) {
  TestRun run;
  run.add({.step = 0});
  EXPECT_EQ(judge(run, "OverflowRisk").at(0).outcome, Outcome::kNotApplicable);
}

TEST(OverflowRisk, BadParametersAreNamed) {
  for (const auto& [text, part] :
       {std::pair("OverflowRisk:share=2", "share"), std::pair("OverflowRisk:limit_dtype=float8", "float16, bfloat16"),
        std::pair("OverflowRisk:growth_checks=0", "growth_checks"),
        std::pair("OverflowRisk:growth_floor=0", "growth_floor"),
        std::pair("OverflowRisk:collection_names=", "no tensor is chosen")}) {
    const auto spec = parse_rule_spec(text);
    ASSERT_TRUE(spec.ok()) << text;
    const auto rule = create_rule(*spec);
    ASSERT_FALSE(rule.ok()) << text;
    EXPECT_NE(rule.status().message().find(part), std::string::npos) << rule.status().message();
  }
}

}  // namespace
}  // namespace trainwarden::rules
