#include "judge/rules/builtin/losses/loss_series.h"

#include <cmath>
#include <limits>
#include <map>

#include <gtest/gtest.h>

namespace trainwarden::rules {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNaN = std::nan("");

// The steps that were compared, and what with.
using Pairs = std::map<std::int64_t, std::int64_t>;

Pairs compared(LossSeries& series, std::int64_t first, std::int64_t last, std::int64_t interval) {
  Pairs pairs;
  for (std::int64_t step = first; step <= last; step += interval) {
    if (const auto comparison = series.add({step, 1})) pairs[comparison->now.step] = comparison->before.step;
  }
  return pairs;
}

TEST(LossSeries, TheDocumentedExample) {  // saved every 3 steps: 21 with 9, and the next is 33
  LossSeries series(10);
  EXPECT_EQ(compared(series, 9, 40, 3), (Pairs{{21, 9}, {33, 21}}));
}

TEST(LossSeries, FromTheFirstStepOn) {
  LossSeries every_step(10);
  EXPECT_EQ(compared(every_step, 0, 30, 1), (Pairs{{10, 0}, {20, 10}, {30, 20}}));
  LossSeries every_fourth(10);
  EXPECT_EQ(compared(every_fourth, 0, 24, 4), (Pairs{{12, 0}, {24, 12}}));
}

TEST(LossSeries, ComparesWithTheLatestThatIsFarEnoughBack) {
  LossSeries series(10);
  for (const std::int64_t step : {0, 4, 8}) EXPECT_FALSE(series.add({step, 1}));
  const auto comparison = series.add({19, 1});
  ASSERT_TRUE(comparison);
  EXPECT_EQ(comparison->before.step, 8);
  EXPECT_EQ(series.next_due(), 29);
}

TEST(LossSeries, AStepThatDoesNotRiseBeginsAnew) {
  LossSeries series(10);
  compared(series, 0, 15, 5);
  EXPECT_EQ(compared(series, 0, 15, 5), (Pairs{{10, 0}}));
}

TEST(DecreasePercent, OfNumbers) {
  EXPECT_DOUBLE_EQ(decrease_percent(0.5, 0.25), 50);
  EXPECT_DOUBLE_EQ(decrease_percent(0.5, 1), -100);
  EXPECT_DOUBLE_EQ(decrease_percent(-1, -2), 100);
  EXPECT_EQ(decrease_percent(0.3, 0.3), 0);
}

TEST(DecreasePercent, OfZeroAndInfinity) {
  EXPECT_EQ(decrease_percent(0, 0), 0);
  EXPECT_EQ(decrease_percent(0, 1), -kInfinity);
  EXPECT_EQ(decrease_percent(0, -1), kInfinity);
  EXPECT_EQ(decrease_percent(kInfinity, kInfinity), 0);
  EXPECT_EQ(decrease_percent(kInfinity, 1), kInfinity);
  EXPECT_EQ(decrease_percent(1, kInfinity), -kInfinity);
  EXPECT_TRUE(std::isnan(decrease_percent(1, kNaN)));
  EXPECT_TRUE(std::isnan(decrease_percent(0, kNaN)));
}

bool fires(double before, double now, const LossLimits& limits = {}) {
  return did_not_decrease({{0, before}, {10, now}}, limits);
}

TEST(DidNotDecrease, ByTheDefaults) {
  EXPECT_FALSE(fires(1, 0.998));
  EXPECT_TRUE(fires(1, 0.9995));
  EXPECT_TRUE(fires(1, 1));
  EXPECT_FALSE(fires(1, 1.04));  // within increase_threshold_percent
  EXPECT_TRUE(fires(1, 1.06));
}

TEST(DidNotDecrease, WithoutARequiredDecreaseOnlyStandingStillFires) {
  const LossLimits limits{.diff_percent = 0, .increase_threshold_percent = 5};
  EXPECT_TRUE(fires(0.3, 0.3, limits));
  EXPECT_FALSE(fires(0.3, 0.2999999, limits));
}

TEST(DidNotDecrease, NaNAndInfinity) {
  EXPECT_TRUE(fires(1, kNaN));
  EXPECT_TRUE(fires(kNaN, kNaN));
  EXPECT_FALSE(fires(kNaN, 1));
  EXPECT_TRUE(fires(1, kInfinity));
  EXPECT_TRUE(fires(kInfinity, kInfinity));
  EXPECT_FALSE(fires(kInfinity, 1));
}

}  // namespace
}  // namespace trainwarden::rules
