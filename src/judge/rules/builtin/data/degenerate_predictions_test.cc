#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

using Steps = std::vector<std::int64_t>;
using Scores = std::function<std::vector<float>(std::int64_t step)>;  // 8 samples, 2 classes

const std::vector<std::int64_t> kMixed = {0, 1, 0, 1, 0, 1, 0, 1};

std::vector<float> right(std::int64_t) {
  std::vector<float> scores;
  for (const std::int64_t label : kMixed) scores.insert(scores.end(), {1.0F - static_cast<float>(label), 0.5F});
  return scores;
}
// Class 1 for all, though each sample has scores of its own.
std::vector<float> one_class(std::int64_t) {
  std::vector<float> scores;
  for (int i = 0; i < 8; ++i) scores.insert(scores.end(), {0.1F * static_cast<float>(i), 2});
  return scores;
}
std::vector<float> same_output(std::int64_t step) {
  std::vector<float> scores;
  for (int i = 0; i < 8; ++i) scores.insert(scores.end(), {0.5F + static_cast<float>(step), 0.25F});
  return scores;
}

TestRun training(const Scores& scores, const std::function<float(std::int64_t)>& loss,
                 const std::vector<std::int64_t>& labels = kMixed, Mode mode = Mode::kTrain) {
  TestRun run;
  for (std::int64_t step = 0; step < 60; ++step) {
    run.add({.step = step,
             .tensors = {shaped(kept("CrossEntropyLoss_input_0", scores(step), {"predictions"}), {8, 2}),
                         kept_integers("CrossEntropyLoss_input_1", labels, {"labels"}),
                         scalar("CrossEntropyLoss_output_0", loss(step), {"losses"})},
             .mode = mode});
  }
  return run;
}

float flat(std::int64_t) {
  return 0.7F;
}
std::vector<float> collapses_at_ten(std::int64_t step) {
  return step < 10 ? right(step) : one_class(step);
}

std::int64_t first_fired(const TestRun& run, std::string_view spec = "DegeneratePredictions") {
  const Steps steps = steps_with(judge(run, spec), Outcome::kFired);
  return steps.empty() ? -1 : steps.front();
}

TEST(DegeneratePredictions, TheSameOutputForEverySample) {
  const TestRun run = training(same_output, flat);
  EXPECT_EQ(first_fired(run), 4);
  const Verdict verdict = judge(run, "DegeneratePredictions").at(4);
  EXPECT_EQ(verdict.evidence.at(0).tensor, "CrossEntropyLoss_input_0");
  EXPECT_EQ(verdict.evidence.at(0).quantity, "spread_over_samples");
  EXPECT_EQ(verdict.evidence.at(0).value, 0);
  EXPECT_EQ(first_fired(run, "DegeneratePredictions:patience=9"), 8);
}

TEST(DegeneratePredictions, ASmallDifferenceIsNotTheSame) {
  for (const auto& [difference, fires] : {std::pair(0.5e-6F, true), std::pair(3e-6F, false)}) {
    const auto nearly = [difference = difference](std::int64_t) {
      std::vector<float> scores(16, 0.5F);
      scores[0] += difference;
      return scores;
    };
    EXPECT_EQ(first_fired(training(nearly, flat)) >= 0, fires) << difference;
  }
}

TEST(DegeneratePredictions, LabelsThatAreAllTheSameAskForNothingElse) {
  EXPECT_EQ(first_fired(training(same_output, flat, {1, 1, 1, 1, 1, 1, 1, 1})), -1);
}

TEST(DegeneratePredictions, ACollapseToOneClass) {
  const TestRun run = training(collapses_at_ten, flat);
  EXPECT_EQ(first_fired(run), 29);  // the 20th step of it
  const Verdict verdict = judge(run, "DegeneratePredictions").at(29);
  EXPECT_EQ(verdict.evidence.at(0).quantity, "share_of_predicted_class");
  EXPECT_EQ(verdict.evidence.at(0).value, 1);
  EXPECT_LT(verdict.confidence, 1);
  EXPECT_NE(verdict.message.find("class 1 only"), std::string::npos) << verdict.message;
}

TEST(DegeneratePredictions, OneClassFromTheStartMayStillLearn) {
  EXPECT_EQ(first_fired(training(one_class, flat)), -1);
}

TEST(DegeneratePredictions, AFallingLossIsNoCollapse) {
  const auto falling = [](std::int64_t step) { return 1.0F - 0.005F * static_cast<float>(step); };
  EXPECT_EQ(first_fired(training(collapses_at_ten, falling)), -1);
}

TEST(DegeneratePredictions, LabelsMostlyOfOneClassAreBestPredictedAsSuch) {
  EXPECT_EQ(first_fired(training(collapses_at_ten, flat, {1, 1, 1, 1, 1, 0, 0, 0})), -1);
  EXPECT_EQ(first_fired(training(collapses_at_ten, flat, {1, 1, 1, 1, 0, 0, 0, 0})), 29);
}

TEST(DegeneratePredictions, HealthyPredictions) {
  EXPECT_EQ(steps_with(judge(training(right, flat), "DegeneratePredictions"), Outcome::kOk).size(), 60u);
}

TEST(DegeneratePredictions, NaNIsForOtherRules) {
  const auto broken = [](std::int64_t step) { return step < 10 ? right(step) : std::vector<float>(16, NAN); };
  EXPECT_EQ(first_fired(training(broken, [](std::int64_t) { return NAN; })), -1);
}

TEST(DegeneratePredictions, WhatIsNotJudged) {
  EXPECT_EQ(steps_with(judge(training(same_output, flat, kMixed, Mode::kEval), "DegeneratePredictions"),
                       Outcome::kNotApplicable)
                .size(),
            60u);
  TestRun run;
  run.add({.step = 0, .tensors = {kept("p", std::vector<float>(7, 1), {"predictions"})}});
  run.add({.step = 1, .tensors = {reduced("p", std::vector<float>(8, 1), {"predictions"})}});
  run.add({.step = 2, .tensors = {kept("w", {1})}});
  EXPECT_EQ(steps_with(judge(run, "DegeneratePredictions"), Outcome::kNotApplicable), (Steps{0, 1, 2}));
}

}  // namespace
}  // namespace trainwarden::rules
