#include <cmath>

#include <gtest/gtest.h>

#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

using Steps = std::vector<std::int64_t>;

// `counts[i]` labels of class i.
std::vector<float> labels_of(const std::vector<int>& counts) {
  std::vector<float> labels;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    labels.insert(labels.end(), static_cast<std::size_t>(counts[i]), static_cast<float>(i));
  }
  return labels;
}

TestRun one_step(const std::vector<float>& labels, const std::vector<float>& predictions) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("labels", labels), kept("predictions", predictions)}});
  return run;
}

TEST(ClassImbalance, TheOracleOf2019) {
  const std::vector<float> labels = labels_of({990, 10});
  const Verdict verdict = judge(one_step(labels, labels), "ClassImbalance").at(0);
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  ASSERT_EQ(verdict.evidence.size(), 1u);
  EXPECT_EQ(verdict.evidence[0].quantity, "labels_of_class_0_per_label_of_class_1");
  EXPECT_EQ(verdict.evidence[0].value, 99);
  EXPECT_EQ(verdict.evidence[0].tensor, "labels");
}

TEST(ClassImbalance, FiresAboveTheThresholdOnly) {
  const std::vector<float> ten_times = labels_of({500, 50});
  EXPECT_EQ(judge(one_step(ten_times, ten_times), "ClassImbalance").at(0).outcome, Outcome::kOk);
  const std::vector<float> more = labels_of({501, 50});
  EXPECT_EQ(judge(one_step(more, more), "ClassImbalance").at(0).outcome, Outcome::kFired);
}

TEST(ClassImbalance, FiresOnAClassThatIsMostlyPredictedWrongly) {
  const std::vector<float> labels = labels_of({300, 100, 100});
  const std::vector<float> predictions = labels_of({300, 30, 170});  // 30 of the 100 ones are right: 0.7 are wrong
  EXPECT_EQ(judge(one_step(labels, predictions), "ClassImbalance").at(0).outcome, Outcome::kOk);
  const std::vector<float> worse = labels_of({301, 28, 171});
  const Verdict verdict = judge(one_step(labels, worse), "ClassImbalance").at(0);
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_EQ(verdict.evidence.at(0).quantity, "mispredicted_part_of_class_1");
  EXPECT_NEAR(verdict.evidence.at(0).value, 0.72, 1e-6);
}

TEST(ClassImbalance, LabelsAreCountedOverTheStepsAndThenAnew) {
  TestRun run;
  for (std::int64_t step = 0; step < 6; ++step) {
    run.add({.step = step, .tensors = {kept("labels", step < 3 ? labels_of({100, 100}) : labels_of({190, 10}))}});
  }
  const auto verdicts = judge(run, "ClassImbalance");
  EXPECT_EQ(steps_with(verdicts, Outcome::kInsufficientData), (Steps{0, 1, 3, 4}));
  EXPECT_EQ(steps_with(verdicts, Outcome::kOk), (Steps{2}));
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{5}));
}

TEST(ClassImbalance, ModesAreCountedByThemselves) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("labels", labels_of({490, 5}))}, .mode = Mode::kTrain});
  run.add({.step = 1, .tensors = {kept("labels", labels_of({5, 490}))}, .mode = Mode::kEval, .mode_step = 0});
  EXPECT_EQ(judge(run, "ClassImbalance").at(1).outcome, Outcome::kInsufficientData);
}

TEST(ClassImbalance, TheCollectionsOfLossModulesAreTheFallback) {
  TestRun run;
  run.add({.step = 0,
           .tensors = {shaped(kept("CrossEntropyLoss_input_0", {0, 1, 0, 1, 1, 0, 1, 0}, {"predictions"}), {4, 2}),
                       kept_integers("CrossEntropyLoss_input_1", {1, 1, 0, -100}, {"labels"})}});
  const Verdict verdict = judge(run, "ClassImbalance:samples=3,threshold_misprediction=0").at(0);
  EXPECT_EQ(verdict.outcome, Outcome::kOk) << verdict.message;
}

TEST(ClassImbalance, ArgmaxOfTheLastDimension) {
  TestRun run;  // labels and predictions one-hot: as numbers they would be four labels
  run.add(
      {.step = 0,
       .tensors = {kept_integers("labels", {0, 1}), shaped(kept("predictions", {0.1F, 0.9F, 0.2F, 0.8F}), {2, 2})}});
  const Verdict verdict = judge(run, "ClassImbalance:samples=2,argmax=True").at(0);
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_EQ(verdict.evidence.at(0).quantity, "mispredicted_part_of_class_0");
  EXPECT_EQ(verdict.evidence.at(0).value, 1);
}

TEST(ClassImbalance, WhatIsNoClassIsNotJudged) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("labels", std::vector<float>(600, 0.5F))}});
  run.add({.step = 1, .tensors = {reduced("labels", labels_of({600}))}});
  run.add({.step = 2, .tensors = {kept("weights", {1})}});
  run.add({.step = 3, .tensors = {kept("labels", {NAN})}});
  const auto verdicts = judge(run, "ClassImbalance");
  EXPECT_EQ(steps_with(verdicts, Outcome::kNotApplicable), (Steps{0, 1, 2, 3}));
  EXPECT_NE(verdicts.at(0).message.find("class numbers"), std::string::npos) << verdicts.at(0).message;
}

}  // namespace
}  // namespace trainwarden::rules
