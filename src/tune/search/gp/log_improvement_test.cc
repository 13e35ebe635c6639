#include "tune/search/gp/log_improvement.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "tune/search/gp/target_warp.h"
#include "tune/search/normal.h"

namespace trainwarden::tune {
namespace {

// The integral of t * density(z - t) over t > 0, divided by density(z) so that tails do not vanish: Simpson's rule.
double log_positive_part_by_integral(double z) {
  constexpr int kSteps = 200'000;
  const double end = z > -1 ? z + 13 : std::min(12.0, 60 / -z), width = end / kSteps;
  double sum = 0;
  for (int i = 0; i <= kSteps; ++i) {
    const double t = i * width, weight = i == 0 || i == kSteps ? 1 : (i % 2 == 1 ? 4 : 2);
    sum += weight * t * std::exp(z * t - 0.5 * t * t);
  }
  return log_normal_density(z) + std::log(sum * width / 3);
}

TEST(LogImprovementTest, IsTheIntegralInEveryBranch) {
  for (const double z : {3.0, 0.5, 0.0, -0.99, -1.01, -3.0, -10.0, -24.9, -25.1, -100.0, -1000.0}) {
    EXPECT_NEAR(log_positive_part(z), log_positive_part_by_integral(z), 1e-9 * std::max(1.0, std::abs(z))) << z;
  }
  EXPECT_NEAR(log_positive_part(-1e8) / (-0.5e16), 1, 1e-12);
  EXPECT_NEAR(log_positive_part(-25 + 1e-9), log_positive_part(-25 - 1e-9), 1e-6);
}

TEST(LogImprovementTest, DerivativesAreThoseOfDifferences) {
  const auto expect = [](auto function, double mean, double deviation) {
    const LogValue at = function(mean, deviation);
    const double step = 1e-6 * deviation;
    const double by_mean =
        (function(mean + step, deviation).value - function(mean - step, deviation).value) / (2 * step);
    const double by_deviation =
        (function(mean, deviation + step).value - function(mean, deviation - step).value) / (2 * step);
    EXPECT_NEAR(at.by_mean, by_mean, 1e-5 * (1 + std::abs(by_mean))) << mean << " " << deviation;
    EXPECT_NEAR(at.by_deviation, by_deviation, 1e-5 * (1 + std::abs(by_deviation))) << mean << " " << deviation;
  };
  for (const double deviation : {1.0, 0.1, 0.02}) {
    expect([](double m, double d) { return log_expected_improvement(m, d, 0.3); }, 1, deviation);
    expect([](double m, double d) { return log_expected_improvement(m, d, 0.3); }, 0.2, deviation);
    expect([](double m, double d) { return log_feasibility(m, d, 0.3); }, 1, deviation);
    expect([](double m, double d) { return log_expected_gain(m, d, -0.2, 0.3); }, 1, deviation);
  }
  expect([](double m, double d) { return log_expected_gain(m, d, -0.2, 0.3); }, 0, 1);
}

TEST(LogImprovementTest, GainIsTheDifferenceOfImprovements) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto improvement = [](double bound) { return std::exp(log_expected_improvement(0.4, 0.7, bound).value); };
  EXPECT_NEAR(std::exp(log_expected_gain(0.4, 0.7, 0, 1).value), improvement(1) - improvement(0), 1e-12);
  EXPECT_NEAR(std::exp(log_expected_gain(0.4, 0.7, -infinity, 1).value), improvement(1), 1e-12);
  EXPECT_EQ(log_expected_gain(0.4, 0.7, 1, 1).value, -infinity);
}

TEST(TargetWarpTest, StandardisesAndKeepsTheOrder) {
  const std::vector<double> costs = {3, -1, 4, 1, -5, 9, 2, 6};
  const TargetWarp warp(costs);
  double sum = 0, squares = 0;
  for (const double cost : costs) {
    sum += warp(cost);
    squares += warp(cost) * warp(cost);
  }
  EXPECT_NEAR(sum, 0, 1e-12);
  EXPECT_NEAR(squares, 8, 1e-9);
  for (double cost = -8; cost < 8; cost += 0.5) EXPECT_LT(warp(cost), warp(cost + 0.5)) << cost;
}

// Of costs over five orders of magnitude, those at the lower end are told apart.
TEST(TargetWarpTest, TakesLogarithmsWhereAFewAreHuge) {
  std::vector<double> costs;
  for (int i = 0; i < 41; ++i) costs.push_back(std::pow(10, i / 8.0));
  const TargetWarp warp(costs);
  EXPECT_GT(warp(costs[20]) - warp(costs[0]), 0.3);
  const double linear = (costs[20] - costs[0]) / (costs[40] - costs[0]);
  EXPECT_LT(linear, 0.01);
}

TEST(TargetWarpTest, HoldsWhatIsNotFinite) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const TargetWarp warp({1, 2, 3, nan, kInfinite, -kInfinite, 1e308, -1e308});
  EXPECT_EQ(warp(nan), warp(1e308));
  EXPECT_EQ(warp(kInfinite), warp(1e308));
  EXPECT_EQ(warp(-kInfinite), warp(-1e308));
  EXPECT_TRUE(std::isfinite(warp(1e308)) && std::isfinite(warp(-1e308)));
  EXPECT_EQ(TargetWarp({nan, kInfinite})(nan), 0);
  EXPECT_EQ(TargetWarp({7, 7, 7})(7), 0);
  const TargetWarp outlier({1, 2, 3, 4, 5, 1e200});
  EXPECT_GT(outlier(4) - outlier(1), 0.02);
  EXPECT_GT(outlier(1e200), outlier(1e100));
  const TargetWarp wall({1, 2, 3, 4, 5, 1e9, 1.1e9, 1.2e9, 1.3e9, 1.4e9});
  EXPECT_GT(wall(5) - wall(1), 0.1);
  EXPECT_GT(wall(2e9), wall(1.4e9));
}

}  // namespace
}  // namespace trainwarden::tune
