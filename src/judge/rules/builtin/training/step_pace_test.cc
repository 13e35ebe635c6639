#include "judge/rules/builtin/training/step_pace.h"

#include <gtest/gtest.h>

namespace trainwarden::rules {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(StepPace, IsEmptyUntilTheSecondStep) {
  StepPace pace;
  EXPECT_EQ(pace.median(), 0);
  pace.add(5 * kSecond);
  EXPECT_EQ(pace.size(), 0u);
  pace.add(7 * kSecond);
  EXPECT_EQ(pace.size(), 1u);
  EXPECT_DOUBLE_EQ(pace.median(), 2);
}

TEST(StepPace, MedianAndQuantiles) {
  StepPace pace;
  std::int64_t now = kSecond;
  pace.add(now);
  for (const int seconds : {1, 2, 3, 4, 100}) pace.add(now += seconds * kSecond);
  EXPECT_DOUBLE_EQ(pace.median(), 3);
  EXPECT_DOUBLE_EQ(pace.quantile(0.999), 100);
  EXPECT_DOUBLE_EQ(pace.quantile(0), 1);
}

TEST(StepPace, UnknownTimesAndClocksThatGoBackAreLeftOut) {
  StepPace pace;
  for (const std::int64_t time : {10 * kSecond, std::int64_t{0}, 5 * kSecond, 6 * kSecond}) pace.add(time);
  EXPECT_EQ(pace.size(), 1u);
  EXPECT_DOUBLE_EQ(pace.median(), 1);
}

TEST(StepPace, ForgetsTheOldest) {
  StepPace pace;
  std::int64_t now = kSecond;
  pace.add(now);
  pace.add(now += 50 * kSecond);
  for (std::size_t i = 0; i < StepPace::kRemembered; ++i) pace.add(now += kSecond);
  EXPECT_EQ(pace.size(), StepPace::kRemembered);
  EXPECT_DOUBLE_EQ(pace.quantile(1), 1);
}

}  // namespace
}  // namespace trainwarden::rules
