#include <cmath>

#include <gtest/gtest.h>

#include "judge/rules/builtin/losses/loss_testing.h"
#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

using Steps = std::vector<std::int64_t>;

// Falls from 2 to 1 until step 100, then grows by `growth` every ten steps.
LossAt growing(double growth) {
  return [=](std::int64_t step) {
    const auto at = static_cast<double>(step);
    const double level = step < 100 ? 2 - at / 100 : std::pow(growth, (at - 100) / 10);
    return level * std::exp(0.02 * noise(step));
  };
}

TestTensor gradient(double norm) {
  return single_reductions("gradient/w", {{Reduction::kL2, false, norm}}, {"gradients"});
}

TEST(Divergence, ALossThatGrowsCheckAfterCheck) {
  const auto verdicts = judge(loss_run(200, growing(1.3)), "Divergence");
  ASSERT_FALSE(steps_with(verdicts, Outcome::kFired).empty());
  const std::int64_t first = steps_with(verdicts, Outcome::kFired).front();
  EXPECT_GE(first, 139);
  EXPECT_LE(first, 159);
  const Verdict& verdict = verdicts.at(first);
  EXPECT_EQ(verdict.severity, Severity::kError);
  EXPECT_EQ(verdict.confidence, 0.7);
  EXPECT_EQ(verdict.evidence.at(0).tensor, "loss");
  EXPECT_EQ(verdict.evidence.at(0).quantity, "loss_to_best");
  EXPECT_GT(verdict.evidence.at(0).value, 2);
  EXPECT_EQ(verdict.evidence.at(1).quantity, "rising_checks");
  EXPECT_EQ(verdict.evidence.at(1).global_step % 10, 0);
}

TEST(Divergence, GradientsMustHaveGrownToo) {
  const auto growing_norm = [](std::int64_t step) { return std::vector{gradient(static_cast<double>(step + 1))}; };
  const auto verdicts = judge(loss_run(200, growing(1.3), growing_norm), "Divergence");
  ASSERT_FALSE(steps_with(verdicts, Outcome::kFired).empty());
  const Verdict& verdict = verdicts.at(steps_with(verdicts, Outcome::kFired).front());
  EXPECT_EQ(verdict.confidence, 1);
  EXPECT_EQ(verdict.evidence.at(2).quantity, "norm");
  const auto falling_norm = [](std::int64_t step) { return std::vector{gradient(1000.0 - static_cast<double>(step))}; };
  EXPECT_TRUE(steps_with(judge(loss_run(200, growing(1.3), falling_norm), "Divergence"), Outcome::kFired).empty());
}

TEST(Divergence, SlowGrowthAndNoiseDoNotFire) {
  EXPECT_TRUE(steps_with(judge(loss_run(300, growing(1.05)), "Divergence"), Outcome::kFired).empty());
  const auto noisy = [](std::int64_t step) { return std::exp(noise(step)); };
  const auto verdicts = judge(loss_run(2000, noisy), "Divergence");
  EXPECT_TRUE(steps_with(verdicts, Outcome::kFired).empty());
  EXPECT_EQ(steps_with(verdicts, Outcome::kOk).size(), 200u);
}

TEST(Divergence, AnExplosionFiresAtOnce) {
  const auto explode = [](std::int64_t step) { return step < 20 ? 1.0 : 3e5; };
  const auto verdicts = judge(loss_run(40, explode), "Divergence");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired).front(), 29);
  EXPECT_TRUE(steps_with(judge(loss_run(40, [](std::int64_t step) { return step < 20 ? 1.0 : 9e4; }), "Divergence"),
                         Outcome::kFired)
                  .empty());
}

TEST(Divergence, SeveralOptimizersMakeItANote) {
  const auto gan = [](std::int64_t) { return std::vector{two_optimizers()}; };
  const auto verdicts = judge(loss_run(200, growing(1.3), gan), "Divergence");
  const Steps fired = steps_with(verdicts, Outcome::kFired);
  ASSERT_FALSE(fired.empty());
  for (const std::int64_t step : fired) EXPECT_EQ(verdicts.at(step).severity, Severity::kInfo);
}

TEST(Divergence, WhatIsNotPositiveOrNotALossIsNotJudged) {
  const auto verdicts =
      judge(loss_run(50, [](std::int64_t step) { return step % 2 == 0 ? -1.0 : std::nan(""); }), "Divergence");
  EXPECT_EQ(steps_with(verdicts, Outcome::kInsufficientData).size(), 50u);
  TestRun run;
  run.add({.step = 0, .tensors = {kept("w", {1})}});
  EXPECT_EQ(judge(run, "Divergence").at(0).outcome, Outcome::kNotApplicable);
}

TEST(Divergence, BadParameters) {
  for (const char* spec :
       {"Divergence:factor=0", "Divergence:checks=0", "Divergence:check_steps=0", "Divergence:collection_names="}) {
    EXPECT_EQ(create_rule(*parse_rule_spec(spec)).status().code(), Code::kInvalidArgument) << spec;
  }
}

}  // namespace
}  // namespace trainwarden::rules
