#include <cmath>

#include "judge/rules/builtin/training/signal_testing.h"

namespace trainwarden::rules {
namespace {

constexpr double kMiB = 1024 * 1024;
constexpr double kStart = 2048 * kMiB;

// `mib_per_step` more at each of the steps; epoch < 0: no data loader.
TestRun growing(std::int64_t steps, double mib_per_step, double epoch = -1,
                std::string_view memory = signals::kHostBytes, Mode mode = Mode::kTrain) {
  TestRun run;
  for (std::int64_t step = 0; step < steps; ++step) {
    std::vector<TestTensor> tensors{signal(memory, kStart + mib_per_step * kMiB * static_cast<double>(step))};
    if (epoch >= 0) tensors.push_back(signal(signals::kEpoch, epoch));
    run.add({.step = step, .tensors = tensors, .mode = mode});
  }
  return run;
}

TEST(MemoryLeak, FiresWhenTheGrowthHasPassedBothLimits) {
  const auto verdicts = judge(growing(400, 4), "MemoryLeak");
  const auto steps = steps_with(verdicts, Outcome::kFired);
  ASSERT_FALSE(steps.empty());
  // From step 100 on, 512 MiB are 128 steps; the medians of the first and the last eighth lie a bit further inside.
  EXPECT_GE(steps.front(), 228);
  EXPECT_LE(steps.front(), 260);
  EXPECT_EQ(verdicts.at(99).outcome, Outcome::kInsufficientData);
  EXPECT_EQ(verdicts.at(200).outcome, Outcome::kOk);
  const Verdict& verdict = verdicts.at(steps.front());
  EXPECT_EQ(verdict.severity, Severity::kWarning);
  EXPECT_EQ(verdict.evidence.at(0).tensor, "trainwarden/memory/host_bytes");
  EXPECT_EQ(verdict.evidence.at(0).quantity, "growth_bytes");
  EXPECT_GE(verdict.evidence.at(0).value, 512 * kMiB);
  EXPECT_EQ(verdict.evidence.at(0).threshold, 512 * kMiB);
  EXPECT_NEAR(verdict.evidence.at(2).value, 4 * kMiB, kMiB / 100);
}

TEST(MemoryLeak, TheAcceleratorsMemory) {
  const auto verdicts = judge(growing(400, 4, -1, signals::kDeviceBytes), "MemoryLeak");
  EXPECT_NE(verdicts.at(399).message.find("the accelerator"), std::string::npos) << verdicts.at(399).message;
}

TEST(MemoryLeak, StepsThatBecomeLongerMeanwhile) {
  TestRun run;
  for (std::int64_t step = 0; step < 400; ++step) {
    run.add({.step = step,
             .tensors = {signal(signals::kHostBytes, kStart + 4 * kMiB * static_cast<double>(step)),
                         signal(signals::kStepSeconds, 0.01 + 0.0001 * static_cast<double>(step))},
             .mode = Mode::kTrain});
  }
  const Verdict verdict = judge(run, "MemoryLeak").at(399);
  ASSERT_EQ(verdict.evidence.at(1).quantity, "gain");
  // From the 21st on: 0.031 s in the mean, 0.012 s at first.
  EXPECT_NEAR(verdict.evidence.at(1).value, 0.03095 / 0.012, 0.02);
  EXPECT_GT(verdict.evidence.at(3).value, verdict.evidence.at(1).value);
  EXPECT_EQ(verdict.evidence.at(4).quantity, "growth_bytes");
}

TEST(MemoryLeak, SteadyMemoryIsFine) {
  EXPECT_TRUE(steps_with(judge(growing(400, 0), "MemoryLeak"), Outcome::kFired).empty());
  EXPECT_TRUE(steps_with(judge(growing(400, 0.2), "MemoryLeak"), Outcome::kFired).empty());
}

TEST(MemoryLeak, TheFirstEpochMayFillADataSet) {
  EXPECT_EQ(judge(growing(400, 4, 0), "MemoryLeak").at(399).severity, Severity::kInfo);
  EXPECT_EQ(judge(growing(400, 4, 1), "MemoryLeak").at(399).severity, Severity::kWarning);
}

TEST(MemoryLeak, MemoryThatFallsAgainAndAgainIsOk) {
  TestRun run;
  for (std::int64_t step = 0; step < 140; ++step) {
    run.add(
        {.step = step, .tensors = {signal(signals::kHostBytes, kStart + static_cast<double>(step % 5) * 100 * kMiB)}});
  }
  const auto verdicts = judge(run, "MemoryLeak");
  EXPECT_EQ(verdicts.at(130).outcome, Outcome::kInsufficientData);
  EXPECT_EQ(verdicts.at(131).outcome, Outcome::kOk);
  EXPECT_TRUE(steps_with(verdicts, Outcome::kFired).empty());
}

TEST(MemoryLeak, ParametersScaleItDown) {
  const auto verdicts = judge(growing(60, 4), "MemoryLeak:growth_mib=40,growth_percent=1,warm_up_steps=10");
  EXPECT_FALSE(steps_with(verdicts, Outcome::kFired).empty());
}

TEST(MemoryLeak, WhatIsNotJudged) {
  TestRun run;
  run.add_steps(0, 0);
  EXPECT_EQ(judge(run, "MemoryLeak").at(0).outcome, Outcome::kNotApplicable);
  EXPECT_EQ(judge(growing(1, 0, -1, signals::kHostBytes, Mode::kEval), "MemoryLeak").at(0).outcome,
            Outcome::kNotApplicable);
  EXPECT_TRUE(steps_with(judge(growing(400, NAN), "MemoryLeak"), Outcome::kFired).empty());
}

TEST(MemoryLeak, BadParameters) {
  const auto rule = create_rule(*parse_rule_spec("MemoryLeak:pull_back_percent=101"));
  ASSERT_FALSE(rule.ok());
  EXPECT_NE(rule.status().message().find("a number from 0 to 100"), std::string::npos);
}

}  // namespace
}  // namespace trainwarden::rules
