#include <cmath>

#include <gtest/gtest.h>

#include "judge/rules/builtin/losses/loss_testing.h"
#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

using Steps = std::vector<std::int64_t>;

// Falls from 3 towards 1 with noise of 5 %.
double healthy(std::int64_t step) {
  return (1 + 2 * std::exp(-static_cast<double>(step) / 15)) * std::exp(0.05 * noise(step));
}

// `factor` times as high in the steps [100, end).
LossAt spiking(double factor, std::int64_t end) {
  return [=](std::int64_t step) { return healthy(step) * (step >= 100 && step < end ? factor : 1); };
}

TEST(LossSpike, AHealthyLossIsOk) {
  const auto verdicts = judge(loss_run(300, healthy), "LossSpike");
  EXPECT_EQ(steps_with(verdicts, Outcome::kInsufficientData).size(), 30u);
  EXPECT_EQ(steps_with(verdicts, Outcome::kOk).size(), 270u);
}

TEST(LossSpike, ATransientSpikeIsANote) {
  const auto verdicts = judge(loss_run(200, spiking(2.5, 110)), "LossSpike");
  ASSERT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{112}));
  const Verdict& verdict = verdicts.at(112);
  EXPECT_EQ(verdict.severity, Severity::kInfo);
  EXPECT_NE(verdict.message.find("spiked at step 100"), std::string::npos) << verdict.message;
  EXPECT_NE(verdict.message.find("back after 10 steps"), std::string::npos) << verdict.message;
  EXPECT_EQ(verdicts.at(105).outcome, Outcome::kInsufficientData);
}

TEST(LossSpike, ALastingSpikeIsAWarning) {
  const auto verdicts = judge(loss_run(200, spiking(2, 1000)), "LossSpike");
  const Steps fired = steps_with(verdicts, Outcome::kFired);
  ASSERT_FALSE(fired.empty());
  EXPECT_EQ(fired.front(), 150);
  const Verdict& verdict = verdicts.at(150);
  EXPECT_EQ(verdict.severity, Severity::kWarning);
  EXPECT_EQ(verdict.evidence.at(0).tensor, "loss");
  EXPECT_EQ(verdict.evidence.at(0).quantity, "loss_ratio");
  EXPECT_EQ(verdict.evidence.at(0).global_step, 100);
  EXPECT_GT(verdict.evidence.at(0).value, 1.3);
  EXPECT_EQ(verdict.evidence.at(1).quantity, "z");
}

TEST(LossSpike, ALossThatIsBackAtItsStartIsAnError) {
  EXPECT_EQ(judge(loss_run(200, spiking(5, 1000)), "LossSpike").at(150).severity, Severity::kError);
}

TEST(LossSpike, RecoverySteps) {
  const auto verdicts = judge(loss_run(200, spiking(2, 1000)), "LossSpike:recovery_steps=20");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired).front(), 120);
}

TEST(LossSpike, BelowATwentiethOfTheStartItIsANote) {
  const auto tiny = [](std::int64_t step) {
    return std::max(3 * std::exp(-static_cast<double>(step) / 10), 1e-4) * (step < 100 ? 1 : 10);
  };
  const auto verdicts = judge(loss_run(200, tiny), "LossSpike");
  for (const std::int64_t step : steps_with(verdicts, Outcome::kFired)) {
    EXPECT_EQ(verdicts.at(step).severity, Severity::kInfo);
  }
}

TEST(LossSpike, WarmRestartsAndSeveralOptimizersAreNotes) {
  const auto restart = [](std::int64_t step) {
    return std::vector{learning_rate(step < 50 || step >= 95 ? 0.1 : 0.001)};
  };
  const auto verdict = judge(loss_run(160, spiking(2, 1000), restart), "LossSpike").at(150);
  EXPECT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_EQ(verdict.severity, Severity::kInfo);
  const auto jump = [](std::int64_t step) { return std::vector{learning_rate(step < 95 ? 0.001 : 0.1)}; };
  EXPECT_EQ(judge(loss_run(160, spiking(2, 1000), jump), "LossSpike").at(150).severity, Severity::kWarning);
  const auto gan = [](std::int64_t) { return std::vector{two_optimizers()}; };
  EXPECT_EQ(judge(loss_run(160, spiking(2, 1000), gan), "LossSpike").at(150).severity, Severity::kInfo);
}

TEST(LossSpike, LossesWithoutALogarithmAreNotJudged) {
  const auto verdicts = judge(loss_run(100, [](std::int64_t step) { return -1 - 0.1 * noise(step); }), "LossSpike");
  EXPECT_EQ(steps_with(verdicts, Outcome::kInsufficientData).size(), 100u);
  const auto nan = judge(loss_run(50, [](std::int64_t) { return std::nan(""); }), "LossSpike");
  EXPECT_EQ(steps_with(nan, Outcome::kInsufficientData).size(), 50u);
}

TEST(LossSpike, EvalStepsAndStepsWithoutALoss) {
  TestRun run;
  run.add({.step = 0, .tensors = {scalar("loss", 1, {"losses"})}, .mode = Mode::kEval});
  run.add({.step = 1, .tensors = {kept("w", {1})}, .mode = Mode::kTrain});
  EXPECT_EQ(steps_with(judge(run, "LossSpike"), Outcome::kNotApplicable), (Steps{0, 1}));
}

TEST(LossSpike, BadParameters) {
  for (const char* spec : {"LossSpike:z_threshold=0", "LossSpike:ratio_threshold=0.5", "LossSpike:recovery_steps=0",
                           "LossSpike:collection_names="}) {
    const auto rule = create_rule(*parse_rule_spec(spec));
    EXPECT_EQ(rule.status().code(), Code::kInvalidArgument) << spec;
  }
}

}  // namespace
}  // namespace trainwarden::rules
