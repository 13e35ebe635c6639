#include "core/base/clock.h"

#include <gtest/gtest.h>

#include <chrono>

namespace trainwarden {
namespace {

TEST(SystemClock, ShowsTheMachinesTime) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::int64_t expected = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  EXPECT_NEAR(static_cast<double>(system_clock().unix_ns()), static_cast<double>(expected), 60e9);
}

TEST(SystemClock, SteadyTimeNeverGoesBack) {
  std::int64_t before = system_clock().steady_ns();
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t now = system_clock().steady_ns();
    EXPECT_GE(now, before);
    before = now;
  }
}

TEST(FakeClock, StandsStillUntilTold) {
  FakeClock clock(5);
  EXPECT_EQ(clock.unix_ns(), 5);
  EXPECT_EQ(clock.unix_ns(), 5);
  clock.advance_ns(37);
  EXPECT_EQ(clock.unix_ns(), 42);
  EXPECT_EQ(clock.steady_ns(), 42);
}

}  // namespace
}  // namespace trainwarden
