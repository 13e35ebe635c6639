#include <cmath>

#include <gtest/gtest.h>

#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

using Steps = std::vector<std::int64_t>;

const std::vector<std::string> kLossNames = {"losses"};

TestRun run_of(const std::vector<std::pair<Mode, float>>& losses) {
  TestRun run;
  std::int64_t step = 0;
  for (const auto& [mode, loss] : losses) {
    run.add({.step = step++, .tensors = {scalar("loss", loss, kLossNames)}, .mode = mode});
  }
  return run;
}

std::vector<std::pair<Mode, float>> train(const std::vector<float>& losses) {
  std::vector<std::pair<Mode, float>> all;
  for (const float loss : losses) all.emplace_back(Mode::kTrain, loss);
  return all;
}

TEST(Overtraining, TheFifthStepWithoutAnImprovement) {
  const auto verdicts = judge(run_of(train({1, 1, 1.2F, 0.9999F, 0.995F, 1, 0.5F, 0.5F})), "Overtraining");
  EXPECT_EQ(steps_with(verdicts, Outcome::kInsufficientData), (Steps{0}));
  ASSERT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{5}));  // none is below 0.99
  const Verdict& verdict = verdicts.at(5);
  EXPECT_EQ(verdict.evidence.at(0).tensor, "loss");
  EXPECT_EQ(verdict.evidence.at(0).quantity, "steps_since_best");
  EXPECT_EQ(verdict.evidence.at(0).value, 5);
  EXPECT_EQ(verdict.evidence.at(0).threshold, 5);
  EXPECT_NE(verdict.message.find("1 at step 0"), std::string::npos) << verdict.message;
}

TEST(Overtraining, EachImprovementByDeltaCountsAnew) {
  EXPECT_TRUE(
      steps_with(judge(run_of(train({1, 1, 1, 1, 0.98F, 1, 1, 1, 1})), "Overtraining"), Outcome::kFired).empty());
  EXPECT_EQ(steps_with(judge(run_of(train({1, 1, 1, 1, 0.98F, 1})), "Overtraining:delta=0.1"), Outcome::kFired),
            (Steps{5}));
}

TEST(Overtraining, ValidationDecidesWhereThereIsAny) {
  std::vector<std::pair<Mode, float>> losses = {{Mode::kEval, 1.0F}};
  for (int i = 0; i < 8; ++i) losses.emplace_back(Mode::kTrain, 1.0F);  // steps 1 to 8
  for (int i = 0; i < 10; ++i) losses.emplace_back(Mode::kEval, 1.0F);  // 9 to 18
  EXPECT_EQ(steps_with(judge(run_of(losses), "Overtraining"), Outcome::kFired), (Steps{18}));
  EXPECT_EQ(steps_with(judge(run_of(losses), "Overtraining:require=any"), Outcome::kFired), (Steps{6, 7, 8, 18}));
  EXPECT_EQ(steps_with(judge(run_of(losses), "Overtraining:require=all"), Outcome::kFired), (Steps{18}));
  EXPECT_EQ(steps_with(judge(run_of(losses), "Overtraining:patience_validation=9"), Outcome::kFired), (Steps{17, 18}));
}

TEST(Overtraining, NaNIsNoImprovementAndNoBest) {
  const auto verdicts = judge(run_of(train({NAN, 1, NAN, NAN, NAN, NAN, NAN})), "Overtraining");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{6}));
}

TEST(Overtraining, NothingCaptured) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("w", {1})}});
  EXPECT_EQ(judge(run, "Overtraining").at(0).outcome, Outcome::kNotApplicable);
}

TEST(Overtraining, TheCollectionsAndPatternsThatAreNamedAreJudged) {
  TestRun run;
  for (std::int64_t step = 0; step < 7; ++step) {
    run.add({.step = step,
             .tensors = {scalar("error", 1, {"metrics"}), scalar("loss", 1.0F / float(step + 1), kLossNames)}});
  }
  EXPECT_EQ(steps_with(judge(run, "Overtraining"), Outcome::kFired), Steps());
  const auto verdicts = judge(run, "Overtraining:collection_names=\"losses,metrics\"");
  ASSERT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{5, 6}));
  EXPECT_EQ(verdicts.at(5).evidence.at(0).tensor, "error");
  EXPECT_EQ(steps_with(judge(run, "Overtraining:tensor_regex=^err"), Outcome::kFired), (Steps{5, 6}));
}

TEST(Overtraining, BadParameters) {
  const auto status = create_rule(*parse_rule_spec("Overtraining:require=both")).status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("expected validation, any or all"), std::string::npos) << status.message();
  EXPECT_FALSE(create_rule(*parse_rule_spec("Overtraining:patience_train=0")).ok());
  EXPECT_FALSE(create_rule(*parse_rule_spec("Overtraining:delta=-1")).ok());
}

}  // namespace
}  // namespace trainwarden::rules
