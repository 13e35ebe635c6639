#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

// Two samples of three classes, whose log Z is `log_z` for each.
TestTensor scores(double log_z) {
  const auto each = static_cast<float>(log_z - std::log(3.0));
  return shaped(kept("scores", {each, each, each, each, each, each}, {"predictions"}), {2, 3});
}

TestRun run_of(std::int64_t checks, const std::function<double(std::int64_t)>& log_z) {
  TestRun run;
  for (std::int64_t i = 0; i < checks; ++i) run.add({.step = 10 * i, .tensors = {scores(log_z(i))}});
  return run;
}

TEST(LogitDrift, FiresWhenScoresRunAwayInEitherDirection) {
  for (const double sign : {1.0, -1.0}) {
    const auto verdicts =
        judge(run_of(60, [&](std::int64_t i) { return sign * static_cast<double>(i); }), "LogitDrift");
    const auto fired = steps_with(verdicts, Outcome::kFired);
    ASSERT_FALSE(fired.empty());
    // The average lags 4 checks behind and the start is 1: more than 20 farther at check 25 or 26.
    EXPECT_NEAR(static_cast<double>(fired.front()), 255, 10);
    const Verdict& verdict = verdicts.at(fired.front());
    EXPECT_EQ(verdict.evidence.at(0).tensor, "scores");
    EXPECT_EQ(verdict.evidence.at(0).quantity, "log_z");
    EXPECT_NEAR(verdict.evidence.at(0).threshold, sign * 21, 1e-5);
    EXPECT_GT(sign * verdict.evidence.at(0).value, 21);
    EXPECT_LT(verdict.confidence, 1);
  }
}

TEST(LogitDrift, StaysSilentWhereScoresSettle) {
  // 15 farther than the start.
  const auto within =
      judge(run_of(80, [](std::int64_t i) { return 16 - 15 * std::exp(-0.1 * static_cast<double>(i)); }), "LogitDrift");
  EXPECT_TRUE(steps_with(within, Outcome::kFired).empty());
  EXPECT_EQ(steps_with(within, Outcome::kInsufficientData).size(), 9u);
  EXPECT_EQ(steps_with(within, Outcome::kOk).size(), 71u);
}

TEST(LogitDrift, ScoresThatComeBackFireNoMore) {
  // Up at check 5, then slowly down: the average is nearer to 0 than ten checks ago from check 28 on, since
  // 57 (0.8^(k - 10) - 0.8^k) < 3 from k = 23 checks after the jump.
  const auto verdicts =
      judge(run_of(80, [](std::int64_t i) { return i < 5 ? 1.0 : 60 - 0.3 * static_cast<double>(i); }), "LogitDrift");
  const auto fired = steps_with(verdicts, Outcome::kFired);
  ASSERT_FALSE(fired.empty());
  EXPECT_NEAR(static_cast<double>(fired.back()), 270, 10);
  EXPECT_EQ(verdicts.at(790).outcome, Outcome::kOk);
}

TEST(LogitDrift, TowardsZeroIsNoDrift) {
  const auto verdicts = judge(run_of(60, [](std::int64_t i) { return -100 + static_cast<double>(i); }), "LogitDrift");
  EXPECT_TRUE(steps_with(verdicts, Outcome::kFired).empty());
}

TEST(LogitDrift, ClassesAreInDimensionOneAndNothingOverflows) {
  // One sample of two classes at two places: (900, 900) and (1000, -infinity).
  const std::vector<float> places = {900, 1000, 900, -INFINITY};
  TestRun run;
  for (std::int64_t i = 0; i < 40; ++i) {
    const bool at_start = i < 5;
    run.add({.step = i,
             .tensors = {shaped(kept("scores", at_start ? std::vector<float>{0, 0, 0, 0} : places, {"predictions"}),
                                {1, 2, 2})}});
  }
  const auto verdicts = judge(run, "LogitDrift");
  const auto fired = steps_with(verdicts, Outcome::kFired);
  ASSERT_FALSE(fired.empty());
  const double settled = (900 + std::log(2.0) + 1000) / 2;
  EXPECT_NEAR(verdicts.at(fired.back()).evidence.at(0).value, settled, settled * 0.2);
  EXPECT_LT(verdicts.at(fired.back()).evidence.at(0).value, settled);
}

TEST(LogitDrift, NaNIsPassedOver) {
  const auto all = judge(run_of(30, [](std::int64_t) { return std::nan(""); }), "LogitDrift");
  EXPECT_EQ(steps_with(all, Outcome::kInsufficientData).size(), 30u);
  const auto some =
      judge(run_of(60, [](std::int64_t i) { return i == 7 ? std::nan("") : static_cast<double>(i); }), "LogitDrift");
  EXPECT_FALSE(steps_with(some, Outcome::kFired).empty());
}

TEST(LogitDrift, WhatHoldsNoScoresIsNotApplicable) {
  TestRun run;
  run.add({.step = 0});
  run.add({.step = 1, .tensors = {reduced("scores", {1, 2}, {"predictions"})}});
  run.add({.step = 2, .tensors = {kept("scores", {1, 2}, {"predictions"})}});
  run.add({.step = 3, .tensors = {shaped(kept("scores", {1, 2}, {"predictions"}), {2, 1})}});
  run.add({.step = 4, .tensors = {scores(1)}, .mode = Mode::kEval});
  const auto verdicts = judge(run, "LogitDrift");
  EXPECT_EQ(steps_with(verdicts, Outcome::kNotApplicable), (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
  EXPECT_NE(verdicts.at(3).message.find("two classes"), std::string::npos) << verdicts.at(3).message;
}

TEST(LogitDrift, BadParameters) {
  for (const char* spec : {"LogitDrift:limit=-1", "LogitDrift:checks=9", "LogitDrift:collection_names="}) {
    EXPECT_EQ(create_rule(*parse_rule_spec(spec)).status().code(), Code::kInvalidArgument) << spec;
  }
}

}  // namespace
}  // namespace trainwarden::rules
