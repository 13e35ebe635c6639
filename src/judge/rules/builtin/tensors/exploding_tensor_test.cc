#include <cmath>

#include <gtest/gtest.h>

#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

TEST(ExplodingTensor, FiresAtEachStepThatHoldsNaN) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("a", {1, NAN})}});
  run.add({.step = 1, .tensors = {kept("a", {1, 2})}});
  run.add({.step = 2, .tensors = {reduced("a", {NAN, NAN})}});
  const auto verdicts = judge(run, "ExplodingTensor");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(steps_with(verdicts, Outcome::kOk), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(verdicts.at(2).evidence.at(0).quantity, "nan_count");
  EXPECT_EQ(verdicts.at(2).evidence.at(0).value, 2);
}

TEST(ExplodingTensor, EachFormIsJudged) {
  for (const TestTensor& tensor : {kept("a", {INFINITY}), reduced("a", {INFINITY}), scalar("a", INFINITY)}) {
    TestRun run;
    run.add({.step = 0, .tensors = {tensor}});
    EXPECT_EQ(judge(run, "ExplodingTensor").at(0).outcome, Outcome::kFired);
    EXPECT_EQ(judge(run, "ExplodingTensor:only_nan=True").at(0).outcome, Outcome::kOk);
  }
}

TEST(ExplodingTensor, SingleReductionsAreJudgedWhereTheyTell) {
  TestRun run;
  run.add({.step = 0, .tensors = {single_reductions("a", {{Reduction::kMean, false, NAN}})}});
  run.add({.step = 1, .tensors = {single_reductions("a", {{Reduction::kMean, false, 1}})}});
  run.add({.step = 2, .tensors = {single_reductions("a", {{Reduction::kMin, false, 1}})}});
  const auto verdicts = judge(run, "ExplodingTensor");
  EXPECT_EQ(verdicts.at(0).outcome, Outcome::kFired);
  EXPECT_EQ(verdicts.at(0).evidence.at(0).quantity, "mean");
  EXPECT_NE(verdicts.at(0).message.find("has mean nan"), std::string::npos) << verdicts.at(0).message;
  EXPECT_EQ(verdicts.at(1).outcome, Outcome::kOk);
  EXPECT_EQ(verdicts.at(2).outcome, Outcome::kNotApplicable);
  EXPECT_NE(verdicts.at(2).message.find("only its min"), std::string::npos) << verdicts.at(2).message;
  EXPECT_EQ(judge(run, "ExplodingTensor:only_nan=True").at(0).outcome, Outcome::kNotApplicable);
}

TEST(ExplodingTensor, NaNIsWorseThanInfinityAndMoreThanLess) {
  TestRun run;
  run.add({.step = 0,
           .tensors = {kept("a", {INFINITY, -INFINITY, INFINITY}), kept("b", {NAN}), kept("c", {NAN, NAN, INFINITY})}});
  const Verdict verdict = judge(run, "ExplodingTensor").at(0);
  ASSERT_EQ(verdict.evidence.size(), 3u);
  EXPECT_EQ(verdict.evidence[0].tensor, "c");
  EXPECT_EQ(verdict.evidence[1].tensor, "b");
  EXPECT_EQ(verdict.evidence[2].tensor, "a");
  EXPECT_EQ(verdict.evidence[2].value, 3);
  EXPECT_EQ(verdict.severity, Severity::kError);
}

TEST(ExplodingTensor, TheUnionOfCollectionsAndPatternsIsJudged) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("a", {1}, {"mine"}), kept("b.weight", {1}), kept("c", {NAN})}});
  EXPECT_EQ(judge(run, "ExplodingTensor").at(0).outcome, Outcome::kFired);
  EXPECT_EQ(judge(run, "ExplodingTensor:collection_names=mine").at(0).outcome, Outcome::kOk);
  EXPECT_EQ(judge(run, R"(ExplodingTensor:collection_names=mine,tensor_regex=\.weight$)").at(0).outcome, Outcome::kOk);
  EXPECT_EQ(judge(run, "ExplodingTensor:collection_names=mine,tensor_regex=^c").at(0).outcome, Outcome::kFired);
}

TEST(ExplodingTensor, MasksArePassedInActivationsAndBuffersOnly) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("attn_input_2", {0, -INFINITY, 0}, {"inputs"})}});
  run.add({.step = 1, .tensors = {kept("attn_input_2", {0, -INFINITY, INFINITY}, {"inputs"})}});
  run.add({.step = 2, .tensors = {kept("attn_input_2", {-INFINITY, -INFINITY}, {"inputs"})}});
  run.add({.step = 3, .tensors = {kept("gradient/a", {0, -INFINITY}, {"gradients"})}});
  run.add({.step = 4, .tensors = {kept("attn_input_2", {0, -INFINITY, NAN}, {"inputs"})}});
  run.add({.step = 5, .tensors = {kept("mask", {0, -INFINITY}, {"buffers"})}});
  EXPECT_EQ(steps_with(judge(run, "ExplodingTensor"), Outcome::kFired), (std::vector<std::int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(judge(run, "ExplodingTensor:allow_masks=False").at(0).outcome, Outcome::kFired);
}

TEST(ExplodingTensor, AnInfiniteLimitOfClippingIsNoFault) {
  TestRun run;
  run.add({.step = 0, .tensors = {scalar("trainwarden/clip/limit", INFINITY), kept("a", {1})}});
  run.add({.step = 1, .tensors = {scalar("trainwarden/clip/norm", INFINITY), kept("a", {1})}});
  EXPECT_EQ(steps_with(judge(run, "ExplodingTensor"), Outcome::kFired), (std::vector<std::int64_t>{1}));
}

TEST(ExplodingTensor, WhatTheProgramLogsMayBeNoNumber) {
  TestRun run;
  run.add({.step = 0, .tensors = {scalar("grad_norm", INFINITY, {"scalars", "logged"}), kept("a", {1})}});
  run.add({.step = 1, .tensors = {scalar("grad_norm", INFINITY, {"scalars", "logged"}), kept("a", {NAN})}});
  EXPECT_EQ(steps_with(judge(run, "ExplodingTensor"), Outcome::kFired), (std::vector<std::int64_t>{1}));
  const auto asked = judge(run, "ExplodingTensor:collection_names=logged");
  EXPECT_EQ(steps_with(asked, Outcome::kFired), (std::vector<std::int64_t>{0, 1}));
}

TEST(ExplodingTensor, ALeafOfATreeHasNoSplit) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("trees/Split", {0.5f, NAN}, {"trees"}), kept("a", {1})}});
  EXPECT_EQ(judge(run, "ExplodingTensor").at(0).outcome, Outcome::kOk);
}

TEST(ExplodingTensor, NotApplicableWhenNothingMatches) {
  TestRun run;
  run.add({.step = 0, .tensors = {strings("words", {"nan"})}});
  run.add({.step = 1});
  const auto verdicts = judge(run, "ExplodingTensor");
  EXPECT_EQ(verdicts.at(0).outcome, Outcome::kNotApplicable);
  EXPECT_EQ(verdicts.at(1).outcome, Outcome::kNotApplicable);
}

}  // namespace
}  // namespace trainwarden::rules
