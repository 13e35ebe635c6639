// The arithmetic that every figure goes through.
#include "bench.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace trainwarden::bench {
namespace {

TEST(SpreadTest, QuartilesLieBetweenTheNearestSamples) {
  const Spread spread = spread_of({5, 1, 4, 2, 3});
  EXPECT_DOUBLE_EQ(spread.low, 2);
  EXPECT_DOUBLE_EQ(spread.median, 3);
  EXPECT_DOUBLE_EQ(spread.high, 4);
  EXPECT_DOUBLE_EQ(spread_of({1, 2}).median, 1.5);
  EXPECT_DOUBLE_EQ(spread_of({7}).high, 7);
  EXPECT_DOUBLE_EQ(spread_of({}).median, 0);
}

TEST(GoalTest, ABoundItselfIsMet) {
  EXPECT_TRUE(at_most(2).met_by(2));
  EXPECT_FALSE(at_most(2).met_by(2.1));
  EXPECT_TRUE(at_least(0.6).met_by(0.6));
  EXPECT_FALSE(at_least(0.6).met_by(0.5));
  EXPECT_TRUE(Goal{}.met_by(1e9));
}

TEST(GoalTest, NoNumberMeetsNoGoal) {
  EXPECT_FALSE(at_most(2).met_by(std::numeric_limits<double>::quiet_NaN()));
  EXPECT_FALSE(at_least(2).met_by(std::numeric_limits<double>::quiet_NaN()));
}

TEST(GoalTest, ReadsAsARelation) {
  EXPECT_EQ(at_most(1.3).to_string(), "<= 1.3");
  EXPECT_EQ(at_least(0.6).to_string(), ">= 0.6");
  EXPECT_EQ(Goal{}.to_string(), "none");
}

TEST(PairedRunsTest, RatiosAreTakenRoundByRound) {
  // The machine was ten times slower in the last round; the ratio does not see it.
  const PairedRuns runs({{10, 10, 100}, {20, 20, 200}});
  const Spread ratio = runs.ratio(1, 0);
  EXPECT_DOUBLE_EQ(ratio.low, 2);
  EXPECT_DOUBLE_EQ(ratio.median, 2);
  EXPECT_DOUBLE_EQ(ratio.high, 2);
}

TEST(MeasureInterleavedTest, EveryArmRunsOnceARoundAndTheFirstRoundIsNotCounted) {
  std::vector<int> order;
  const std::vector<std::function<double()>> arms = {
      [&] { return order.push_back(0), order.size() <= 2 ? 1e9 : 1.0; },
      [&] { return order.push_back(1), order.size() <= 2 ? 1e9 : 3.0; },
  };
  const PairedRuns runs = measure_interleaved(2, arms);
  EXPECT_EQ(order, (std::vector<int>{0, 1, 1, 0, 0, 1}));
  EXPECT_DOUBLE_EQ(runs.ns(0).high, 1);
  EXPECT_DOUBLE_EQ(runs.ratio(1, 0).median, 3);
}

}  // namespace
}  // namespace trainwarden::bench
