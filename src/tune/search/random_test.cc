#include "tune/search/random.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "tune/search/normal.h"

namespace trainwarden::tune {
namespace {

TEST(RandomTest, IsTheSameOnEveryMachine) {
  Random random(42, 7);
  const std::array<std::uint64_t, 3> first = {random.bits(), random.bits(), random.bits()};
  Random again(42, 7);
  for (const std::uint64_t each : first) EXPECT_EQ(again.bits(), each);
  // By a program of its own in Python, from the papers.
  EXPECT_EQ(first[0], 0x67aa0d7ad2be547fu);
  EXPECT_EQ(first[1], 0x12db033556f98c38u);
}

TEST(RandomTest, StreamsAreDifferent) {
  Random one(42, 1), other(42, 2), third(43, 1);
  const std::uint64_t first = one.bits();
  EXPECT_NE(first, other.bits());
  EXPECT_NE(first, third.bits());
}

TEST(RandomTest, UniformAndNormalHaveTheirMoments) {
  Random random(1);
  double sum = 0, squares = 0, normal_sum = 0, normal_squares = 0;
  constexpr int kCount = 200'000;
  for (int i = 0; i < kCount; ++i) {
    const double u = random.uniform(), z = random.normal();
    ASSERT_TRUE(u >= 0 && u < 1);
    sum += u;
    squares += u * u;
    normal_sum += z;
    normal_squares += z * z;
  }
  EXPECT_NEAR(sum / kCount, 0.5, 0.003);
  EXPECT_NEAR(squares / kCount, 1.0 / 3, 0.003);
  EXPECT_NEAR(normal_sum / kCount, 0, 0.01);
  EXPECT_NEAR(normal_squares / kCount, 1, 0.015);
}

TEST(RandomTest, BelowAndWeightedAreFair) {
  Random random(3);
  std::array<int, 3> below{}, weighted{};
  const std::array<double, 3> weights = {1, 0, 3};
  for (int i = 0; i < 30'000; ++i) {
    ++below.at(random.below(3));
    ++weighted.at(random.weighted(weights));
  }
  for (const int count : below) EXPECT_NEAR(count, 10'000, 400);
  EXPECT_NEAR(weighted[0], 7'500, 400);
  EXPECT_EQ(weighted[1], 0);
}

// -40: by the continued fraction of Mills' ratio.
TEST(NormalTest, HoldsInTheTails) {
  EXPECT_NEAR(normal_cdf(1.96), 0.9750021048517795, 1e-15);
  EXPECT_NEAR(log_normal_cdf(-5), std::log(0.5 * std::erfc(5 / std::sqrt(2))), 1e-12);
  EXPECT_NEAR(log_normal_cdf(-9.999), log_normal_cdf(-10.001) + 0.0201970, 1e-5);
  EXPECT_NEAR(log_normal_cdf(-40) / -804.6084420137538, 1, 1e-12);
  EXPECT_NEAR(log_normal_cdf(6), -9.865876455e-10, 1e-18);
}

TEST(NormalTest, QuantileIsTheInverseOfTheDistribution) {
  for (const double p : {1e-300, 1e-100, 1e-20, 1e-5, 0.01, 0.3, 0.5, 0.9, 0.999999}) {
    EXPECT_NEAR(log_normal_cdf(normal_quantile(p)) / std::log(p), 1, 1e-12) << p;
  }
  EXPECT_EQ(normal_quantile(0), -INFINITY);
  EXPECT_EQ(normal_quantile(1), INFINITY);
}

TEST(NormalTest, MassesOfIntervalsAreExact) {
  EXPECT_NEAR(std::exp(log_normal_mass(-1, 1)), 0.6826894921370859, 1e-15);
  EXPECT_NEAR(log_normal_mass(30, 31), log_normal_mass(-31, -30), 1e-12);
  EXPECT_NEAR(log_normal_mass(30, 31), log_normal_cdf(-30), 1e-9);
  EXPECT_NEAR(log_normal_mass(0, 1e-9), std::log(1e-9) - 0.9189385332046727, 1e-6);
}

TEST(NormalTest, QuantileBetweenPartsTheMass) {
  for (const auto& [low, high] : {std::pair(-1.0, 2.0), {30.0, 31.0}, {-31.0, -30.0}, {-50.0, 50.0}, {3.0, 3.5}}) {
    EXPECT_NEAR(normal_quantile_between(low, high, 0), low, 1e-9);
    EXPECT_NEAR(normal_quantile_between(low, high, 1), high, 1e-9);
    for (const double part : {0.1, 0.5, 0.9}) {
      const double x = normal_quantile_between(low, high, part);
      ASSERT_TRUE(x > low && x < high);
      EXPECT_NEAR(std::exp(log_normal_mass(low, x) - log_normal_mass(low, high)), part, 1e-9) << low << " " << part;
    }
  }
}

}  // namespace
}  // namespace trainwarden::tune
