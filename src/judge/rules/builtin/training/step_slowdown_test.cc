#include "judge/rules/builtin/training/step_slowdown.h"

#include <gtest/gtest.h>

namespace trainwarden::rules::step_slowdown_tests {
namespace {

TEST(StepSlowdown, StepsThatStayAsTheyAreCostNothing) {
  StepSlowdown slowdown;
  EXPECT_FALSE(slowdown.cost());
  for (int step = 0; step < 1000; ++step) slowdown.add(0.01 + (step % 7) * 1e-4);
  EXPECT_FALSE(slowdown.cost());
}

TEST(StepSlowdown, ALineThroughStepsThatBecomeLongerEvenlySaysHowLongTheFirstWas) {
  StepSlowdown slowdown;
  for (int step = 0; step < 1280; ++step) slowdown.add(0.001 * (1 + 0.01 * step) + (step % 5 == 0 ? 0.002 : 0));
  const auto cost = slowdown.cost();
  ASSERT_TRUE(cost);
  EXPECT_NEAR(cost->gain, 7.5, 0.1);  // 7.8 ms in the mean, 1.04 ms at first; the fastest 32 took 1.2 ms
  EXPECT_LT(cost->gain_min, cost->gain);
  EXPECT_NEAR(cost->gain_max, 13.6, 0.5);
}

TEST(StepSlowdown, OneStepUpIsNoLine) {
  StepSlowdown slowdown;
  for (int step = 0; step < 640; ++step) slowdown.add(step < 320 ? 0.01 : 0.03);
  const auto cost = slowdown.cost();
  ASSERT_TRUE(cost);
  EXPECT_NEAR(cost->gain, 2, 0.01);
}

TEST(StepSlowdown, ManyStepsAreKeptInLittleRoom) {
  StepSlowdown slowdown;
  for (int step = 0; step < 100'000; ++step) slowdown.add(0.01 + 1e-6 * step);
  const auto cost = slowdown.cost();
  ASSERT_TRUE(cost);
  EXPECT_NEAR(cost->gain, 6, 0.05);
}

}  // namespace
}  // namespace trainwarden::rules::step_slowdown_tests
