#include <cmath>

#include <gtest/gtest.h>

#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

using Steps = std::vector<std::int64_t>;

const std::vector<std::string> kLosses = {"losses"};

// One loss for each step, saved at 0, interval, 2 × interval, ...
TestRun losses_saved(const std::vector<float>& losses, std::int64_t interval, std::int64_t first = 0) {
  TestRun run;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    run.add({.step = first + static_cast<std::int64_t>(i) * interval, .tensors = {scalar("loss", losses[i], kLosses)}});
  }
  return run;
}

TEST(LossNotDecreasing, TheOracleOf2019WithoutRequiredDecrease) {
  const TestRun run = losses_saved({.30F, .33F, .31F, .30F, .28F}, 4);
  const auto verdicts = judge(run, "LossNotDecreasing:diff_percent=0.0");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{12}));
  EXPECT_EQ(steps_with(verdicts, Outcome::kInsufficientData), (Steps{0, 4, 8, 16}));
}

// The test of 2019 fired first at 24, since it took diff_percent for the increase that is allowed. By today's
// documentation, which we follow, 20 % of decrease were asked for and 12 shows none.
TEST(LossNotDecreasing, DiffPercentIsTheDecreaseThatIsAskedFor) {
  const TestRun run = losses_saved({.30F, .33F, .31F, .30F, .28F, .20F, .42F}, 4);
  EXPECT_EQ(steps_with(judge(run, "LossNotDecreasing:diff_percent=20"), Outcome::kFired), (Steps{12, 24}));
}

TEST(LossNotDecreasing, TheDocumentedSchedule) {
  const TestRun run = losses_saved({9, 9, 9, 9, 9, 9, 9, 9, 9, 9}, 3, 9);  // 9, 12, ..., 36
  EXPECT_EQ(steps_with(judge(run, "LossNotDecreasing"), Outcome::kFired), (Steps{21, 33}));
}

TEST(LossNotDecreasing, AFallingLossIsOk) {
  const auto verdicts = judge(losses_saved({4, 3, 2, 1}, 10), "LossNotDecreasing");
  EXPECT_EQ(steps_with(verdicts, Outcome::kOk), (Steps{10, 20, 30}));
}

TEST(LossNotDecreasing, RisesWithinTheThresholdArePutUpWith) {
  const TestRun run = losses_saved({1, 1.04F}, 10);
  EXPECT_EQ(judge(run, "LossNotDecreasing").at(10).outcome, Outcome::kOk);
  const Verdict verdict = judge(run, "LossNotDecreasing:increase_threshold_percent=3").at(10);
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_EQ(verdict.evidence.at(0).quantity, "increase_percent");
  EXPECT_NEAR(verdict.evidence.at(0).value, 4, 1e-4);
  EXPECT_EQ(verdict.evidence.at(0).threshold, 3);
}

TEST(LossNotDecreasing, ANaNLossFires) {
  const Verdict verdict = judge(losses_saved({1, NAN}, 10), "LossNotDecreasing").at(10);
  EXPECT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_TRUE(std::isnan(verdict.evidence.at(0).value));
  EXPECT_NE(verdict.message.find("not a number"), std::string::npos) << verdict.message;
}

TEST(LossNotDecreasing, EachFormOfALoss) {
  for (const auto& make : {kept, reduced}) {
    TestRun run;
    run.add({.step = 0, .tensors = {make("loss", {1, 3}, kLosses)}});
    run.add({.step = 10, .tensors = {make("loss", {2, 2}, kLosses)}});
    run.add({.step = 20, .tensors = {make("loss", {0, 2}, kLosses)}});
    const auto verdicts = judge(run, "LossNotDecreasing");
    EXPECT_EQ(verdicts.at(10).outcome, Outcome::kFired);
    EXPECT_EQ(verdicts.at(20).outcome, Outcome::kOk);
  }
}

// Train steps fall from 10 to 10, eval steps stand still; num_steps counts steps of the mode.
TestRun both_modes() {
  TestRun run;
  std::int64_t global_step = 0;
  for (std::int64_t round = 0; round < 3; ++round) {
    for (std::int64_t i = 0; i < 10; ++i) {
      const auto step = round * 10 + i;
      run.add({.step = global_step++,
               .tensors = {scalar("loss", 100.0F - static_cast<float>(step), kLosses)},
               .mode = Mode::kTrain,
               .mode_step = step});
    }
    run.add(
        {.step = global_step++, .tensors = {scalar("loss", 7, kLosses)}, .mode = Mode::kEval, .mode_step = round * 10});
  }
  return run;  // train 0-29 are 0-9, 11-20, 22-31; eval 0, 10, 20 are 10, 21, 32
}

TEST(LossNotDecreasing, AModeIsJudgedByItsOwnSteps) {
  const auto train = judge(both_modes(), "LossNotDecreasing:mode=train");
  EXPECT_EQ(steps_with(train, Outcome::kOk), (Steps{11, 22}));
  EXPECT_EQ(steps_with(train, Outcome::kNotApplicable), (Steps{10, 21, 32}));
  const auto eval = judge(both_modes(), "LossNotDecreasing:mode=eval");
  EXPECT_EQ(steps_with(eval, Outcome::kFired), (Steps{21, 32}));
}

TEST(LossNotDecreasing, GlobalTakesAllSteps) {
  const auto verdicts = judge(both_modes(), "LossNotDecreasing:mode=global");
  EXPECT_EQ(steps_with(verdicts, Outcome::kOk), (Steps{10, 30}));  // 7 after 100, 72 after 81
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{20}));   // 81 after 7
}

TEST(LossNotDecreasing, WithoutAModeEvalIsPreferredOnceItIsThere) {
  const auto verdicts = judge(both_modes(), "LossNotDecreasing");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{21, 32}));
  EXPECT_EQ(verdicts.at(9).outcome, Outcome::kInsufficientData);  // train, as long as there is no eval
  EXPECT_EQ(verdicts.at(11).outcome, Outcome::kNotApplicable);
}

TEST(LossNotDecreasing, WhichTensorsAreLosses) {
  TestRun run;
  for (const std::int64_t step : {0, 10}) {
    run.add({.step = step, .tensors = {scalar("a", 1, kLosses), scalar("b", 1, {"mine"}), scalar("c", 1)}});
  }
  const auto offenders = [&](std::string_view spec) {
    std::vector<std::string> names;
    const Verdict verdict = judge(run, spec).at(10);
    for (const Evidence& evidence : verdict.evidence) names.push_back(evidence.tensor);
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(offenders("LossNotDecreasing"), (Names{"a"}));
  EXPECT_EQ(offenders("LossNotDecreasing:collection_names=mine"), (Names{"a", "b"}));
  EXPECT_EQ(offenders("LossNotDecreasing:tensor_regex=c,use_losses_collection=False"), (Names{"c"}));
}

TEST(LossNotDecreasing, NotApplicableWithoutALoss) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("w", {1})}});
  EXPECT_EQ(judge(run, "LossNotDecreasing").at(0).outcome, Outcome::kNotApplicable);
}

}  // namespace
}  // namespace trainwarden::rules
