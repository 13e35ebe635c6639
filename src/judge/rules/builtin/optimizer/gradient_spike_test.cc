#include <cmath>

#include <gtest/gtest.h>

#include "judge/rules/builtin/losses/loss_testing.h"
#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

using Steps = std::vector<std::int64_t>;

const std::vector<std::string> kGradients = {"gradients"};

// Two gradients with noise; that of the head is `factor` times as large in the steps [100, end).
TestRun run_of(std::int64_t steps, double factor, std::int64_t end, bool is_gan = false) {
  TestRun run;
  for (std::int64_t step = 0; step < steps; ++step) {
    const auto usual = static_cast<float>(std::exp(0.2 * noise(step)));
    const auto head = usual * static_cast<float>(step >= 100 && step < end ? factor : 1);
    TestStep one{.step = step,
                 .tensors = {reduced("gradient/head", {3 * head, 4 * head}, kGradients),
                             single_reductions("gradient/stem", {{Reduction::kL2, false, 10 * usual}}, kGradients)}};
    if (is_gan) one.tensors.push_back(two_optimizers());
    run.add(one);
  }
  return run;
}

TEST(GradientSpike, ALastingOneNamesTheLayer) {
  const auto verdicts = judge(run_of(200, 100, 1000), "GradientSpike");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired).front(), 150);
  const Verdict& verdict = verdicts.at(150);
  EXPECT_EQ(verdict.severity, Severity::kWarning);
  EXPECT_EQ(verdict.evidence.at(0).tensor, "gradient/head");
  EXPECT_EQ(verdict.evidence.at(0).quantity, "l2");
  EXPECT_EQ(verdict.evidence.at(0).global_step, 100);
  EXPECT_NEAR(verdict.evidence.at(0).value / verdict.evidence.at(0).threshold, 100, 50);
  EXPECT_EQ(verdict.evidence.at(1).quantity, "norm_ratio");
  EXPECT_NE(verdict.message.find("gradient/head"), std::string::npos) << verdict.message;
}

TEST(GradientSpike, ATransientOneIsANote) {
  const auto verdicts = judge(run_of(200, 100, 101), "GradientSpike");
  ASSERT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{103}));
  EXPECT_EQ(verdicts.at(103).severity, Severity::kInfo);
  EXPECT_NE(verdicts.at(103).message.find("back after 1 steps"), std::string::npos) << verdicts.at(103).message;
}

TEST(GradientSpike, NoiseIsOk) {
  const auto verdicts = judge(run_of(300, 1, 0), "GradientSpike");
  EXPECT_EQ(steps_with(verdicts, Outcome::kOk).size(), 270u);
  EXPECT_EQ(steps_with(verdicts, Outcome::kInsufficientData).size(), 30u);
}

TEST(GradientSpike, SeveralOptimizersMakeItANote) {
  EXPECT_EQ(judge(run_of(160, 100, 1000, true), "GradientSpike").at(150).severity, Severity::kInfo);
}

TEST(GradientSpike, UnfreezingIsNoSpike) {
  TestRun run;
  for (std::int64_t step = 0; step < 200; ++step) {
    TestStep one{.step = step, .tensors = {reduced("gradient/head", {1}, kGradients)}};
    if (step >= 100) one.tensors.push_back(reduced("gradient/stem", {1000}, kGradients));
    run.add(one);
  }
  EXPECT_TRUE(steps_with(judge(run, "GradientSpike"), Outcome::kFired).empty());
}

TEST(GradientSpike, ZeroAndNonFiniteNormsAreLeftOut) {
  TestRun run;
  run.add({.step = 0, .tensors = {reduced("g", {0}, kGradients)}});
  run.add({.step = 1, .tensors = {reduced("g", {NAN}, kGradients)}});
  run.add({.step = 2, .tensors = {shape_only("g", {1}, kGradients)}});
  const auto verdicts = judge(run, "GradientSpike");
  EXPECT_EQ(steps_with(verdicts, Outcome::kInsufficientData), (Steps{0, 1}));
  EXPECT_EQ(steps_with(verdicts, Outcome::kNotApplicable), (Steps{2}));
}

TEST(GradientSpike, BadParameters) {
  for (const char* spec :
       {"GradientSpike:z_threshold=0", "GradientSpike:recovery_steps=0", "GradientSpike:collection_names="}) {
    EXPECT_EQ(create_rule(*parse_rule_spec(spec)).status().code(), Code::kInvalidArgument) << spec;
  }
}

}  // namespace
}  // namespace trainwarden::rules
