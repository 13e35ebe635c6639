#include "measure/sampling/tick_times.h"

#include <gtest/gtest.h>

namespace trainwarden::sampling {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// Whose wall time can be set.
class SettableClock final : public Clock {
 public:
  std::int64_t unix_ns() const override { return steady_ + ahead_; }
  std::int64_t steady_ns() const override { return steady_; }
  void pass(std::int64_t ns) { steady_ += ns; }
  void set(std::int64_t ns) { ahead_ += ns; }

 private:
  std::int64_t steady_ = 5 * kSecond;
  std::int64_t ahead_ = 1'700'000'000 * kSecond;
};

TEST(TickTimes, FollowTheWallClock) {
  SettableClock clock;
  TickTimes times(clock);
  EXPECT_EQ(times.now().unix_ns, clock.unix_ns());
  clock.pass(kSecond / 10);
  EXPECT_EQ(times.now().unix_ns, clock.unix_ns());
  EXPECT_EQ(times.jumps(), 0);
}

TEST(TickTimes, AClockThatIsCorrectedALittleMovesNoTick) {
  SettableClock clock;
  TickTimes times(clock);
  const std::int64_t first = times.now().unix_ns;
  clock.set(-kSecond / 2);
  clock.pass(kSecond / 10);
  const TickTime second = times.now();
  EXPECT_EQ(second.unix_ns, first + kSecond / 10);
  EXPECT_FALSE(second.set_back);
}

TEST(TickTimes, AClockThatIsSetIsFollowed) {
  SettableClock clock;
  TickTimes times(clock);
  times.now();
  clock.set(3600 * kSecond);
  const TickTime later = times.now();
  EXPECT_EQ(later.unix_ns, clock.unix_ns());
  EXPECT_FALSE(later.set_back);
  clock.set(-7200 * kSecond);
  const TickTime earlier = times.now();
  EXPECT_EQ(earlier.unix_ns, clock.unix_ns());
  EXPECT_TRUE(earlier.set_back);
  EXPECT_EQ(times.jumps(), 2);
}

TEST(TickTimes, NoTwoTicksHaveTheSameTime) {
  SettableClock clock;
  TickTimes times(clock);
  const std::int64_t first = times.now().unix_ns;
  EXPECT_GT(times.now().unix_ns, first);
}

}  // namespace
}  // namespace trainwarden::sampling
