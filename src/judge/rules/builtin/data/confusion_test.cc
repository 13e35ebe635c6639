#include <cmath>

#include <gtest/gtest.h>

#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

TestRun labelled_step(const std::vector<float>& labels, const std::vector<float>& predictions) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("labels", labels), kept("predictions", predictions)}});
  return run;
}

const std::vector<float> kTen = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
const std::vector<float> kFourAsSeven = {0, 1, 2, 3, 7, 5, 6, 7, 8, 9};

TEST(Confusion, ThePerfectMatrixPasses) {
  EXPECT_EQ(judge(labelled_step(kTen, kTen), "Confusion").at(0).outcome, Outcome::kOk);
}

TEST(Confusion, TheOracleOf2019) {
  const TestRun run = labelled_step(kTen, kFourAsSeven);
  const Verdict verdict = judge(run, "Confusion").at(0);
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  ASSERT_EQ(verdict.evidence.size(), 2u);
  EXPECT_EQ(verdict.evidence[0].quantity, "recall_of_class_4");
  EXPECT_EQ(verdict.evidence[0].value, 0);
  EXPECT_EQ(verdict.evidence[1].quantity, "part_of_class_4_in_predictions_of_7");
  EXPECT_EQ(verdict.evidence[1].value, 0.5);
  EXPECT_EQ(judge(run, "Confusion:min_diag=0,max_off_diag=0.01").at(0).outcome, Outcome::kFired);
}

TEST(Confusion, TheLimitsThemselvesPass) {
  const TestRun run = labelled_step({0, 0, 1, 1}, {0, 0, 0, 1});  // recall of 1 is 1/2; 1/3 of the zeros are ones
  EXPECT_EQ(judge(run, "Confusion:min_diag=0.5,max_off_diag=0.34").at(0).outcome, Outcome::kOk);
  EXPECT_EQ(judge(run, "Confusion:min_diag=0.51,max_off_diag=0.34").at(0).outcome, Outcome::kFired);
  EXPECT_EQ(judge(run, "Confusion:min_diag=0.5,max_off_diag=0.33").at(0).outcome, Outcome::kFired);
}

TEST(Confusion, TheDocumentedDiagonalIsThereForWhoWantsIt) {
  const Verdict verdict = judge(labelled_step(kTen, kTen), "Confusion:diagonal=share").at(0);
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_EQ(verdict.evidence.size(), 10u);
  EXPECT_NEAR(verdict.evidence[0].value, 0.1, 1e-12);
  EXPECT_EQ(judge(labelled_step(kTen, kTen), "Confusion:diagonal=share,min_diag=0.1").at(0).outcome, Outcome::kOk);
}

TEST(Confusion, AClassPastTheNumberOfCategories) {
  EXPECT_EQ(judge(labelled_step(kTen, kTen), "Confusion:category_no=10").at(0).outcome, Outcome::kOk);
  const Verdict verdict = judge(labelled_step(kTen, kTen), "Confusion:category_no=9").at(0);
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_EQ(verdict.evidence.at(0).quantity, "label_outside_category_no");
  EXPECT_EQ(verdict.evidence.at(0).value, 9);
}

TEST(Confusion, NamesComeBeforeCollections) {
  TestRun run;
  run.add({.step = 0,
           .tensors = {kept("labels", {0, 1}), kept("predictions", {0, 1}), kept("a", {0, 1}, {"labels"}),
                       kept("b", {1, 0}, {"predictions"})}});
  run.add({.step = 1, .tensors = {kept("a", {0, 1}, {"labels"}), kept("b", {1, 0}, {"predictions"})}});
  const auto verdicts = judge(run, "Confusion");
  EXPECT_EQ(verdicts.at(0).outcome, Outcome::kOk);
  EXPECT_EQ(verdicts.at(1).outcome, Outcome::kFired);
  EXPECT_EQ(judge(run, "Confusion:labels=a,predictions=b").at(0).outcome, Outcome::kFired);
}

TEST(Confusion, LabelsWithoutPredictionsAreNotJudged) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("labels", {0, 1})}});
  run.add({.step = 1, .tensors = {kept("labels", {0, 1}), kept("predictions", {0, 1, 2})}});
  run.add({.step = 2, .tensors = {kept("labels", {0, NAN}), kept("predictions", {0, 1})}});
  const auto verdicts = judge(run, "Confusion");
  EXPECT_EQ(steps_with(verdicts, Outcome::kNotApplicable), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_NE(verdicts.at(1).message.find("each of 2 labels"), std::string::npos) << verdicts.at(1).message;
}

TEST(Confusion, ADiagonalOfAnotherNameIsRefused) {
  const auto spec = parse_rule_spec("Confusion:diagonal=rows");
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(create_rule(*spec).status().message().find("expected recall or share") == std::string::npos, false);
}

}  // namespace
}  // namespace trainwarden::rules
