#include <cmath>

#include <gtest/gtest.h>

#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

const std::vector<std::string> kGradientNames = {"gradients"};

TEST(VanishingGradient, FiresBelowTheThresholdWorstFirst) {
  TestRun run;
  run.add(
      {.step = 7,
       .tensors = {kept("gradient/a", {1e-8F, -1e-8F}, kGradientNames), reduced("gradient/b", {1, -1}, kGradientNames),
                   reduced("gradient/c", {1e-9F, -1e-9F}, kGradientNames), kept("weight", {0, 0})},
       .mode = Mode::kTrain,
       .mode_step = 5});
  const Verdict verdict = judge(run, "VanishingGradient").at(7);
  EXPECT_EQ(verdict.outcome, Outcome::kFired);
  ASSERT_EQ(verdict.evidence.size(), 2u);
  EXPECT_EQ(verdict.evidence[0].tensor, "gradient/c");
  EXPECT_EQ(verdict.evidence[0].quantity, "abs_mean");
  EXPECT_NEAR(verdict.evidence[0].value, 1e-9, 1e-15);
  EXPECT_EQ(verdict.evidence[0].threshold, 1e-7);
  EXPECT_EQ(verdict.evidence[0].worker, "");
  EXPECT_EQ(verdict.evidence[1].tensor, "gradient/a");
  EXPECT_NE(verdict.message.find("2 of 3 gradients"), std::string::npos) << verdict.message;
  EXPECT_NE(verdict.message.find("step 7 (train 5)"), std::string::npos) << verdict.message;
  EXPECT_FALSE(verdict.advice.empty());
}

TEST(VanishingGradient, ASingleAbsMeanIsEnough) {
  TestRun run;
  run.add({.step = 0,
           .tensors = {
               single_reductions("g", {{Reduction::kMax, false, 1}, {Reduction::kMean, true, 1e-9}}, kGradientNames)}});
  run.add({.step = 1, .tensors = {single_reductions("g", {{Reduction::kMean, true, 1}}, kGradientNames)}});
  const auto verdicts = judge(run, "VanishingGradient");
  EXPECT_EQ(verdicts.at(0).outcome, Outcome::kFired);
  EXPECT_EQ(verdicts.at(0).evidence.at(0).value, 1e-9);
  EXPECT_EQ(verdicts.at(1).outcome, Outcome::kOk);
}

TEST(VanishingGradient, SaysWhatWasKeptInPlaceOfTheAbsMean) {
  TestRun run;
  run.add({.step = 0, .tensors = {single_reductions("g", {{Reduction::kMean, false, 0}}, kGradientNames)}});
  const Verdict verdict = judge(run, "VanishingGradient").at(0);
  EXPECT_EQ(verdict.outcome, Outcome::kNotApplicable);
  EXPECT_NE(verdict.message.find("its abs mean was not kept, only its mean"), std::string::npos) << verdict.message;
}

TEST(VanishingGradient, TheThresholdItselfIsFine) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("g", {0.5F}, kGradientNames)}});
  EXPECT_EQ(judge(run, "VanishingGradient:threshold=0.5").at(0).outcome, Outcome::kOk);
  EXPECT_EQ(judge(run, "VanishingGradient:threshold=0.51").at(0).outcome, Outcome::kFired);
}

TEST(VanishingGradient, NaNDoesNotFire) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("g", {0, NAN}, kGradientNames), reduced("h", {0, INFINITY}, kGradientNames)}});
  EXPECT_EQ(judge(run, "VanishingGradient").at(0).outcome, Outcome::kOk);
}

TEST(VanishingGradient, NotApplicableWithoutGradients) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("weight", {0})}});
  run.add({.step = 1, .tensors = {shape_only("g", {0}, kGradientNames)}});
  run.add({.step = 2, .tensors = {kept("g", {1}, kGradientNames)}});
  const auto verdicts = judge(run, "VanishingGradient");
  EXPECT_EQ(verdicts.at(0).outcome, Outcome::kNotApplicable);
  EXPECT_EQ(verdicts.at(1).outcome, Outcome::kNotApplicable);
  EXPECT_EQ(verdicts.at(2).outcome, Outcome::kOk);
}

TEST(VanishingGradient, MinFraction) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("a", {0}, kGradientNames), kept("b", {1}, kGradientNames)}});
  EXPECT_EQ(judge(run, "VanishingGradient:min_fraction=0.5").at(0).outcome, Outcome::kFired);
  EXPECT_EQ(judge(run, "VanishingGradient:min_fraction=0.51").at(0).outcome, Outcome::kOk);
}

TEST(VanishingGradient, OtherCollections) {
  TestRun run;
  run.add(
      {.step = 0, .tensors = {kept("a", {0}, {"mine"}), kept("b", {0}, {"yours"}), kept("c", {0}, kGradientNames)}});
  const Verdict verdict = judge(run, "VanishingGradient:collection_names=\"mine,yours\"").at(0);
  ASSERT_EQ(verdict.evidence.size(), 2u);
  EXPECT_EQ(verdict.evidence[1].tensor, "b");
}

TEST(VanishingGradient, EachWorkerByItself) {
  TestRun run(2);
  run.add({.step = 0, .tensors = {kept("g", {1}, kGradientNames)}, .worker = 0});
  run.add({.step = 0, .tensors = {kept("g", {0}, kGradientNames)}, .worker = 1});
  const Verdict verdict = judge(run, "VanishingGradient").at(0);
  ASSERT_EQ(verdict.evidence.size(), 1u);
  EXPECT_EQ(verdict.evidence[0].worker, "rank-00001");
}

TEST(VanishingGradient, EvidenceIsLimited) {
  TestRun run;
  TestStep step;
  for (std::size_t i = 0; i < 2 * Verdict::kMaxEvidence; ++i) {
    step.tensors.push_back(kept("g" + std::to_string(i), {0}, kGradientNames));
  }
  run.add(step);
  EXPECT_EQ(judge(run, "VanishingGradient").at(0).evidence.size(), Verdict::kMaxEvidence);
}

}  // namespace
}  // namespace trainwarden::rules
