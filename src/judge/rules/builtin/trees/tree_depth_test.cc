#include <cmath>

#include <gtest/gtest.h>

#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

TestRun trees_with(const TestTensor& tensor) {
  TestRun run;
  run.add({.step = 0, .tensors = {tensor}});
  return run;
}

Outcome outcome(const TestTensor& tensor, std::string_view spec = "TreeDepth") {
  return judge(trees_with(tensor), spec).at(0).outcome;
}

TEST(TreeDepth, TheDepthIsThatOfTheLargestId) {
  // Ids 15 to 30 are the level of depth 4 of a full tree, 31 begins depth 5.
  EXPECT_EQ(outcome(kept_integers("trees/Node", {0, 1, 2, 0, 30})), Outcome::kOk);
  EXPECT_EQ(outcome(kept_integers("trees/Node", {0, 1, 2, 0, 31})), Outcome::kFired);
  EXPECT_EQ(outcome(kept_integers("trees/Node", {0, 1, 2, 0, 31}), "TreeDepth:depth=5"), Outcome::kOk);
  EXPECT_EQ(outcome(kept_integers("trees/Node", {0, 1, 2}), "TreeDepth:depth=0.5"), Outcome::kFired);
  EXPECT_EQ(outcome(kept("trees/Node", {0}), "TreeDepth:depth=0"), Outcome::kOk);
}

TEST(TreeDepth, DepthsThatWereCapturedAreBelieved) {
  TestRun lopsided;  // numbered as it grew: 8 is the sixth level of a tree that has one branch
  lopsided.add(
      {.step = 0,
       .tensors = {kept_integers("trees/Depth", {0, 1, 1, 2, 2, 5}), kept_integers("trees/Node", {0, 1, 2, 3, 4, 8})}});
  const Verdict verdict = judge(lopsided, "TreeDepth").at(0);
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_EQ(verdict.message,
            "A tree is 5 levels deep at step 0, by the largest depth in \"trees/Depth\"; the limit is 4.");
  ASSERT_EQ(verdict.evidence.size(), 1u);
  EXPECT_EQ(verdict.evidence.at(0).value, 5);
  EXPECT_EQ(judge(lopsided, "TreeDepth:depth=5").at(0).outcome, Outcome::kOk);
  TestRun wide;
  wide.add({.step = 0, .tensors = {kept_integers("trees/Depth", {0, 4}), kept_integers("trees/Node", {0, 99})}});
  EXPECT_EQ(judge(wide, "TreeDepth").at(0).outcome, Outcome::kOk);
}

TEST(TreeDepth, SaysHowDeep) {
  const Verdict verdict = judge(trees_with(reduced("trees/Node", {0, 127})), "TreeDepth").at(0);
  ASSERT_EQ(verdict.outcome, Outcome::kFired);  // statistics do
  EXPECT_EQ(verdict.evidence.at(0).tensor, "trees/Node");
  EXPECT_EQ(verdict.evidence.at(0).value, 7);
  EXPECT_EQ(verdict.evidence.at(0).threshold, 4);
}

TEST(TreeDepth, WhatIsNoTreeIsNotJudged) {
  EXPECT_EQ(outcome(kept("trees/Gain", {99})), Outcome::kNotApplicable);
  EXPECT_EQ(outcome(kept("trees/Node", {NAN})), Outcome::kNotApplicable);
  EXPECT_EQ(outcome(kept("trees/Node", {-1})), Outcome::kNotApplicable);
  EXPECT_EQ(outcome(strings("trees/Node", {"0-1"})), Outcome::kNotApplicable);
}

TEST(CreateXgboostReport, SaysWhatWritesTheReport) {
  const Verdict verdict = judge(trees_with(kept("trees/Node", {0})), "CreateXgboostReport").at(0);
  EXPECT_EQ(verdict.outcome, Outcome::kNotApplicable);
  EXPECT_NE(verdict.message.find("trainwarden.xgboost.report"), std::string::npos) << verdict.message;
}

}  // namespace
}  // namespace trainwarden::rules
