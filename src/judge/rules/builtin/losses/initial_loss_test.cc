#include <cmath>

#include <gtest/gtest.h>

#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

using Steps = std::vector<std::int64_t>;

// Samples of ten classes.
std::vector<TestTensor> classifying(float loss, std::vector<float> labels = {0, 9, 3, 3}, std::size_t count = 4) {
  return {scalar("loss", loss, {"losses"}),
          shaped(reduced("logits", std::vector<float>(10 * count, 0.5F), {"predictions"}),
                 {static_cast<std::int64_t>(count), 10}),
          reduced("labels", std::move(labels), {"labels"})};
}

Verdict judge_first(std::vector<TestTensor> tensors, std::string_view spec = "InitialLoss") {
  TestRun run;
  run.add({.step = 3, .tensors = std::move(tensors), .mode = Mode::kTrain, .mode_step = 0});
  return judge(run, spec).at(3);
}

const auto kBlind = static_cast<float>(std::log(10));

TEST(InitialLoss, ABlindGuessIsOk) {
  EXPECT_EQ(judge_first(classifying(kBlind)).outcome, Outcome::kOk);
  EXPECT_EQ(judge_first(classifying(1.299F * kBlind)).outcome, Outcome::kOk);
  EXPECT_EQ(judge_first(classifying(0.701F * kBlind)).outcome, Outcome::kOk);
}

TEST(InitialLoss, TooHigh) {
  const Verdict verdict = judge_first(classifying(6 * kBlind));
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_EQ(verdict.severity, Severity::kWarning);
  EXPECT_EQ(verdict.confidence, 0.8);
  EXPECT_EQ(verdict.evidence.at(0).tensor, "loss");
  EXPECT_EQ(verdict.evidence.at(0).quantity, "initial_loss");
  EXPECT_NEAR(verdict.evidence.at(0).threshold, std::log(10), 1e-6);
  EXPECT_NE(verdict.message.find("500 % higher"), std::string::npos) << verdict.message;
  EXPECT_EQ(judge_first(classifying(6 * kBlind), "InitialLoss:tolerance=5.1").outcome, Outcome::kOk);
}

TEST(InitialLoss, WhatIsANoteOnly) {
  const Verdict low = judge_first(classifying(0.1F));
  EXPECT_EQ(low.severity, Severity::kInfo);
  const Verdict sum = judge_first(classifying(4 * kBlind));
  EXPECT_EQ(sum.severity, Severity::kInfo);
  EXPECT_NE(sum.message.find("a sum over 4 samples"), std::string::npos) << sum.message;
  const std::vector<float> two = {0, 9};
  EXPECT_EQ(judge_first(classifying(kBlind + 5.9F, two, 2)).severity, Severity::kInfo);
  EXPECT_EQ(judge_first(classifying(kBlind + 6.1F, two, 2)).severity, Severity::kWarning);
}

TEST(InitialLoss, ANaNLossIsNotJudgedFine) {
  EXPECT_NE(judge_first(classifying(NAN)).outcome, Outcome::kOk);
}

TEST(InitialLoss, OnlyClassification) {
  for (const std::vector<float>& labels :
       {std::vector<float>{0.5F, 1, 2, 3}, {0, 10, 3, 3}, {0, 1, 2}, {-1, -1, -1, -1}}) {
    EXPECT_EQ(judge_first(classifying(9, labels)).outcome, Outcome::kNotApplicable);
  }
  EXPECT_EQ(judge_first({scalar("loss", 9, {"losses"})}).outcome, Outcome::kNotApplicable);
  auto two_losses = classifying(9);
  two_losses.push_back(scalar("other", 1, {"losses"}));
  EXPECT_EQ(judge_first(two_losses).outcome, Outcome::kNotApplicable);
}

TEST(InitialLoss, OnlyTheFirstTrainingStep) {
  TestRun run;
  run.add({.step = 0, .tensors = classifying(9), .mode = Mode::kEval});
  run.add({.step = 1, .tensors = {kept("w", {1})}, .mode = Mode::kTrain});
  run.add({.step = 2, .tensors = classifying(9), .mode = Mode::kTrain});
  run.add({.step = 3, .tensors = classifying(9), .mode = Mode::kTrain});
  const auto verdicts = judge(run, "InitialLoss");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{2}));
  EXPECT_EQ(steps_with(verdicts, Outcome::kNotApplicable), (Steps{0, 1, 3}));
}

TEST(InitialLoss, BadParameters) {
  EXPECT_FALSE(create_rule(*parse_rule_spec("InitialLoss:tolerance=-1")).ok());
}

}  // namespace
}  // namespace trainwarden::rules
