#include "ui/views/confusion.h"

#include <cmath>

#include <gtest/gtest.h>

#include "read/trial/run_testing.h"

namespace trainwarden::views {
namespace {

using Numbers = std::vector<double>;
using Classes = std::vector<std::int64_t>;

// Of each of three classes two samples; at step 1 a 1 is taken for a 2.
TestRun classified() {
  TestRun run;
  run.add(
      {.step = 0, .tensors = {kept_integers("labels", {0, 0, 1, 1, 2, 2}), kept("logits", {})}, .mode = Mode::kTrain});
  for (std::int64_t step = 1; step < 3; ++step) {
    const float wrong = step == 1 ? 9.0F : 0.0F;
    run.add({.step = step,
             .tensors = {kept_integers("labels", {0, 0, 1, 1, 2, 2}),
                         shaped(kept("logits", {1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, wrong, 0, 0, 1, 0, 0, 1}), {6, 3})},
             .mode = step == 1 ? Mode::kEval : Mode::kTrain});
  }
  return run;
}

TEST(WilsonPart, IsAsInTheLiterature) {
  const Part part = wilson_part(8, 10);  // Brown, Cai and DasGupta (2001) and every calculator: 0.490, 0.943
  EXPECT_DOUBLE_EQ(part.value, 0.8);
  EXPECT_NEAR(part.low, 0.4902, 1e-4);
  EXPECT_NEAR(part.high, 0.9433, 1e-4);
  EXPECT_DOUBLE_EQ(wilson_part(10, 10).high, 1);
  EXPECT_NEAR(wilson_part(10, 10).low, 0.7225, 1e-4);
  EXPECT_TRUE(std::isnan(wilson_part(0, 0).value));
}

TEST(Confusion, CountsASingleStep) {
  const TestRun run = classified();
  const auto trial = run.open();
  const auto confusion = count_confusion(*trial, "labels", "logits", {1, 1, {}});
  ASSERT_TRUE(confusion.ok()) << confusion.status().to_string();
  EXPECT_EQ(confusion->classes, (Classes{0, 1, 2}));
  EXPECT_EQ(confusion->counts, (Numbers{2, 0, 0, 0, 1, 1, 0, 0, 2}));
  EXPECT_EQ(confusion->samples, 6);
  EXPECT_DOUBLE_EQ(confusion->accuracy.value, 5.0 / 6);
  EXPECT_DOUBLE_EQ(confusion->numbers[1].recall.value, 0.5);
  EXPECT_DOUBLE_EQ(confusion->numbers[1].precision.value, 1);
  EXPECT_DOUBLE_EQ(confusion->numbers[2].precision.value, 2.0 / 3);
  EXPECT_DOUBLE_EQ(confusion->numbers[2].f1, 0.8);
  EXPECT_EQ(confusion->first_step, 1);
  EXPECT_EQ(confusion->last_step, 1);
}

// A rule had statistics of both kept in between.
TEST(Confusion, AStepWithStatisticsAloneIsNoneToCount) {
  TestRun run = classified();
  for (std::int64_t step = 3; step < 6; ++step) {
    run.add({.step = step, .tensors = {reduced("labels", {0, 1}), reduced("logits", {0, 1})}, .mode = Mode::kTrain});
  }
  const auto trial = run.open();
  EXPECT_EQ(confusion_steps(*trial, "labels", "logits"), (std::vector<std::int64_t>{0, 1, 2}));
  const auto all = count_confusion(*trial, "labels", "logits", {1, 5, {}});
  ASSERT_TRUE(all.ok()) << all.status().to_string();
  EXPECT_EQ(all->steps, 2u);
  EXPECT_EQ(all->last_step, 2);
  EXPECT_EQ(all->unfit_steps, 0u);
}

TEST(Confusion, CountsARangeAndAMode) {
  const TestRun run = classified();
  const auto trial = run.open();
  const auto all = count_confusion(*trial, "labels", "logits", {1, 2, {}});
  ASSERT_TRUE(all.ok()) << all.status().to_string();
  EXPECT_EQ(all->counts, (Numbers{4, 0, 0, 0, 3, 1, 0, 0, 4}));
  EXPECT_EQ(all->counted_steps, 2U);
  const auto eval = count_confusion(*trial, "labels", "logits", {0, 100, Mode::kEval});
  EXPECT_EQ(eval->samples, 6);
  EXPECT_EQ(eval->steps, 1U);
  EXPECT_EQ(count_confusion(*trial, "labels", "logits", {1, 2, Mode::kGlobal})->counted_steps, 2U);
}

TEST(Confusion, TellsOfStepsThatDoNotFit) {
  const TestRun run = classified();
  const auto trial = run.open();
  const auto some = count_confusion(*trial, "labels", "logits", {0, 2, {}});
  ASSERT_TRUE(some.ok()) << some.status().to_string();
  EXPECT_EQ(some->unfit_steps, 1U);
  EXPECT_NE(some->first_problem.find("step 0: "), std::string::npos) << some->first_problem;
  const auto none = count_confusion(*trial, "labels", "logits", {0, 0, {}});
  EXPECT_EQ(none.status().code(), Code::kInvalidArgument);
  EXPECT_EQ(count_confusion(*trial, "labels", "logits", {50, 60, {}}).status().code(), Code::kNotFound);
}

TEST(Confusion, TakesTheNewestStepsWhenThereAreTooMany) {
  const TestRun run = classified();
  const auto trial = run.open();
  ConfusionLimits limits;
  limits.steps = 1;
  const auto confusion = count_confusion(*trial, "labels", "logits", {1, 2, {}}, limits);
  EXPECT_EQ(confusion->counted_steps, 1U);
  EXPECT_EQ(confusion->steps, 2U);
  EXPECT_EQ(confusion->first_step, 2);
}

TEST(Confusion, FoldsRareClassesIntoOne) {
  TestRun run;
  run.add({.step = 0,
           .tensors = {kept_integers("labels", {7, 7, 7, 5, 5, 900, -3}),
                       kept_integers("predictions", {7, 7, 5, 5, 5, 900, -3})}});
  const auto trial = run.open();
  ConfusionLimits limits;
  limits.classes = 3;
  const auto confusion = count_confusion(*trial, "labels", "predictions", {0, 0, {}}, limits);
  ASSERT_TRUE(confusion.ok()) << confusion.status().to_string();
  EXPECT_EQ(confusion->classes, (Classes{5, 7, Confusion::kOther}));
  EXPECT_EQ(confusion->folded_classes, 2U);
  EXPECT_EQ(confusion->counts, (Numbers{2, 0, 0, 1, 2, 0, 0, 0, 2}));
  EXPECT_DOUBLE_EQ(confusion->accuracy.value, 4.0 / 7);  // nobody knows which of the others were right
}

TEST(ConfusionGuess, FindsWhatFits) {
  TestRun run;
  run.add({.step = 0,
           .tensors = {kept_integers("batch/labels", {0, 1, 2}), kept("linear_output_0", std::vector<float>(12), {}),
                       shaped(kept("model.logits", std::vector<float>(9), {}), {3, 3}), kept("weight", {1, 2, 3}),
                       strings("labels_text", {"a"})}});
  const auto trial = run.open();
  const ConfusionGuess guess = guess_confusion(*trial);
  ASSERT_FALSE(guess.labels.empty());
  EXPECT_EQ(guess.labels[0].name, "batch/labels");
  ASSERT_EQ(guess.predictions.size(), 2U);
  EXPECT_EQ(guess.predictions[0].name, "model.logits");
  EXPECT_EQ(guess.predictions[0].reason, "by a word of its name");
}

TEST(ConfusionGuess, SaysNothingWhenNothingFits) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept_integers("labels", {0, 1, 2}), kept("logits", {1, 2, 3, 4, 5})}});
  EXPECT_TRUE(guess_confusion(*run.open()).labels.empty());
}

TEST(ConfusionGuess, NamesClassesByAStringTensor) {
  TestRun run;
  run.add({.step = 0, .tensors = {strings("class_names", {"ant", "bee"})}});
  const ClassNames names = class_names(*run.open());
  EXPECT_EQ(names.names, (std::vector<std::string>{"ant", "bee"}));
  EXPECT_EQ(names.source, "tensor class_names");
}

}  // namespace
}  // namespace trainwarden::views
