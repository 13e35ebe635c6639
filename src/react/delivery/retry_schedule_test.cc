#include "react/delivery/retry_schedule.h"

#include <gtest/gtest.h>

#include <limits>

namespace trainwarden::delivery {
namespace {

using std::chrono::milliseconds;

TEST(RetrySchedule, DoublesUpToTheLongest) {
  const RetryPolicy policy{.first_delay = milliseconds(1'000), .longest_delay = milliseconds(300'000)};
  EXPECT_EQ(longest_pause(policy, 1), milliseconds(1'000));
  EXPECT_EQ(longest_pause(policy, 2), milliseconds(2'000));
  EXPECT_EQ(longest_pause(policy, 9), milliseconds(256'000));
  EXPECT_EQ(longest_pause(policy, 10), milliseconds(300'000));
  EXPECT_EQ(longest_pause(policy, std::numeric_limits<int>::max()), milliseconds(300'000));
}

TEST(RetrySchedule, MayHaveNoPause) {
  std::mt19937_64 random(7);
  const RetryPolicy policy{.first_delay = milliseconds(0), .longest_delay = milliseconds(0)};
  EXPECT_EQ(longest_pause(policy, std::numeric_limits<int>::max()), milliseconds(0));
  EXPECT_EQ(pause_after(policy, 5, std::nullopt, random), milliseconds(0));
}

TEST(RetrySchedule, JitterTakesThePauseAnywhereBelow) {
  std::mt19937_64 random(7);
  const RetryPolicy policy;
  milliseconds least = milliseconds::max();
  milliseconds most(0);
  milliseconds sum(0);
  constexpr int kTimes = 10'000;
  for (int i = 0; i < kTimes; ++i) {
    const milliseconds pause = pause_after(policy, 4, std::nullopt, random);
    least = std::min(least, pause);
    most = std::max(most, pause);
    sum += pause;
  }
  EXPECT_GE(least, milliseconds(0));
  EXPECT_LT(least, milliseconds(100));
  EXPECT_GT(most, milliseconds(7'900));
  EXPECT_LE(most, milliseconds(8'000));
  EXPECT_NEAR(static_cast<double>(sum.count()) / kTimes, 4'000, 100);
}

TEST(RetrySchedule, NeverComesBeforeTheTargetWants) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(pause_after({}, 1, milliseconds(60'000), random), milliseconds(60'000));
    EXPECT_GE(pause_after({}, 4, milliseconds(3'000), random), milliseconds(3'000));
  }
}

}  // namespace
}  // namespace trainwarden::delivery
