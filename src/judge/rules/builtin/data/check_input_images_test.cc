#include <cmath>

#include <gtest/gtest.h>

#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

const std::vector<std::string> kImages = {"image_inputs"};

// Images of 1 × 2 pixels and two channels with these means.
TestTensor images(int count, float first, float second, const std::string& name = "conv_input_0") {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) {
    for (const float mean : {first, second}) {
      values.push_back(mean - 1);
      values.push_back(mean + 1);
    }
  }
  return shaped(kept(name, values, kImages), {count, 2, 1, 2});
}

TestTensor statistics_of(TestTensor tensor) {
  tensor.form = journal::RecordForm::kStatistics;
  return tensor;
}

TestRun batches(const TestTensor& batch, int count = 5) {
  TestRun run;
  for (int step = 0; step < count; ++step) run.add({.step = step, .tensors = {batch}});
  return run;
}

TEST(CheckInputImages, ImagesThatAreNotNormalised) {
  const auto verdicts = judge(batches(images(100, 0.1F, 0.286F)), "CheckInputImages");
  EXPECT_EQ(steps_with(verdicts, Outcome::kInsufficientData), (std::vector<std::int64_t>{0, 1, 2, 3}));
  ASSERT_EQ(verdicts.at(4).outcome, Outcome::kFired);
  ASSERT_EQ(verdicts.at(4).evidence.size(), 1u);
  EXPECT_EQ(verdicts.at(4).evidence[0].tensor, "conv_input_0");
  EXPECT_EQ(verdicts.at(4).evidence[0].quantity, "mean_of_channel_1");
  EXPECT_NEAR(verdicts.at(4).evidence[0].value, 0.286, 1e-5);
}

TEST(CheckInputImages, NormalisedImages) {
  EXPECT_EQ(judge(batches(images(100, 0, -0.19F)), "CheckInputImages").at(4).outcome, Outcome::kOk);
  EXPECT_EQ(judge(batches(images(100, 0, -0.21F)), "CheckInputImages").at(4).outcome, Outcome::kFired);
}

TEST(CheckInputImages, StatisticsTellTheMeanOfAllChannels) {
  const Verdict verdict = judge(batches(statistics_of(images(100, 0.5F, 0.3F))), "CheckInputImages").at(4);
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_EQ(verdict.evidence.at(0).quantity, "mean_of_all_channels");
  EXPECT_NEAR(verdict.evidence.at(0).value, 0.4, 1e-5);
  EXPECT_EQ(judge(batches(statistics_of(images(100, 0, 0))), "CheckInputImages").at(4).outcome, Outcome::kOk);
}

TEST(CheckInputImages, TheMeanRunsOverAllImages) {
  TestRun run;
  run.add({.step = 0, .tensors = {images(300, 1, 1)}});
  run.add({.step = 1, .tensors = {images(300, -1, -1)}});
  EXPECT_EQ(judge(run, "CheckInputImages").at(1).outcome, Outcome::kOk);
}

TEST(CheckInputImages, TheDocumentedPatternIsTakenToo) {
  TestTensor batch = images(500, 1, 1, "net_hybridsequential0_input_0");
  batch.collections = {};
  EXPECT_EQ(judge(batches(batch, 1), "CheckInputImages").at(0).outcome, Outcome::kFired);
}

TEST(CheckInputImages, WhatIsNoImageIsNotJudged) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("x", std::vector<float>(600, 9), kImages)}});
  run.add({.step = 1, .tensors = {kept("w", {1})}});
  run.add({.step = 2, .tensors = {shaped(kept("y", std::vector<float>(600, NAN), kImages), {600, 1})}});
  const auto verdicts = judge(run, "CheckInputImages");
  EXPECT_EQ(verdicts.at(0).outcome, Outcome::kNotApplicable);
  EXPECT_NE(verdicts.at(0).message.find("no channels"), std::string::npos) << verdicts.at(0).message;
  EXPECT_EQ(verdicts.at(1).outcome, Outcome::kNotApplicable);
  EXPECT_NE(verdicts.at(2).outcome, Outcome::kFired);
}

}  // namespace
}  // namespace trainwarden::rules
