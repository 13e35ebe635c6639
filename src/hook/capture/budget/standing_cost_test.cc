#include "hook/capture/budget/standing_cost.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "hook/capture/capture_testing.h"

namespace trainwarden::capture {
namespace {

// Looks ten times a second, until `end_ns`, at what costs this share of the time.
void look_on(StandingCost& cost, std::int64_t& now_ns, std::int64_t& spent_ns, std::int64_t end_ns, double share) {
  for (; now_ns < end_ns; now_ns += 100 * kMillisecond) {
    cost.look(now_ns, spent_ns);
    spent_ns += static_cast<std::int64_t>(share * 100 * kMillisecond);
  }
}

TEST(StandingCost, IsGuessedUntilItIsSeen) {
  StandingCost cost(0.003);
  EXPECT_EQ(cost.share(), 0.003);
  std::int64_t now_ns = 0;
  std::int64_t spent_ns = 0;
  look_on(cost, now_ns, spent_ns, 3'000 * kMillisecond, 0.001);
  EXPECT_NEAR(cost.share(), 0.001, 1e-6);
}

TEST(StandingCost, IsNotWhatFollowsFromAStepThatWasKept) {
  StandingCost cost(0.003);
  std::int64_t now_ns = 0;
  std::int64_t spent_ns = 0;
  for (int step = 0; step < 20; ++step) {
    cost.note_kept(now_ns);
    spent_ns += 30 * kMillisecond;
    look_on(cost, now_ns, spent_ns, now_ns + 900 * kMillisecond, 0.001);
  }
  EXPECT_EQ(cost.share(), 0.003) << "there was no time in which nothing was kept";
  cost.note_kept(now_ns);
  spent_ns += 30 * kMillisecond;
  look_on(cost, now_ns, spent_ns, now_ns + 3'000 * kMillisecond, 0.001);
  EXPECT_NEAR(cost.share(), 0.001, 1e-6);
}

TEST(StandingCost, FollowsWhatChanges) {
  StandingCost cost(0);
  std::int64_t now_ns = 0;
  std::int64_t spent_ns = 0;
  look_on(cost, now_ns, spent_ns, 5'000 * kMillisecond, 0.001);
  look_on(cost, now_ns, spent_ns, 15'000 * kMillisecond, 0.004);
  EXPECT_NEAR(cost.share(), 0.004, 2e-4);
}

TEST(StandingCost, IsNeverNegative) {
  StandingCost cost(0.003);
  cost.look(0, 50 * kMillisecond);
  cost.look(1'000 * kMillisecond, 0);
  EXPECT_EQ(cost.share(), 0) << "who watched has ended";
}

}  // namespace
}  // namespace trainwarden::capture
