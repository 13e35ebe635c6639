#include "read/profile/rates.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace trainwarden::profile {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(Rates, OfACounterOverTheTimeThatPassed) {
  const std::vector<Sample> counter = {{0, 10}, {kSecond, 12}, {3 * kSecond, 13}};
  EXPECT_EQ(rate_of(counter), (std::vector<Sample>{{kSecond, 2}, {3 * kSecond, 0.5}}));
  EXPECT_EQ(rise_of(counter), 3);
}

TEST(Rates, ACounterThatBeganAnewHasNoneThere) {
  const std::vector<Sample> counter = {{0, 10}, {kSecond, 12}, {2 * kSecond, 1}, {3 * kSecond, 4}};
  EXPECT_EQ(rate_of(counter), (std::vector<Sample>{{kSecond, 2}, {3 * kSecond, 3}}));
  EXPECT_EQ(rise_of(counter), 2 + 1 + 3);
}

TEST(Rates, AClockThatWasSetBackGivesNoRate) {
  const std::vector<Sample> counter = {{kSecond, 10}, {kSecond, 12}, {0, 13}, {kSecond, 14}};
  EXPECT_EQ(rate_of(counter), (std::vector<Sample>{{kSecond, 1}}));
}

TEST(Rates, OfNothingThereIsNone) {
  EXPECT_TRUE(rate_of({}).empty());
  const std::vector<Sample> one = {{0, 1}};
  EXPECT_TRUE(rate_of(one).empty());
  EXPECT_EQ(rise_of(one), std::nullopt);
  EXPECT_FALSE(quantiles_of({}));
}

// numpy.percentile([1, 2, 3, 4, 10], [25, 50, 75, 95, 99])
TEST(Rates, QuantilesAreThoseOfNumPy) {
  const std::vector<Sample> samples = {{0, 4}, {1, 1}, {2, 10}, {3, 3}, {4, 2}, {5, std::nan("")}};
  const auto q = quantiles_of(samples);
  ASSERT_TRUE(q);
  EXPECT_EQ(q->count, 5U);
  EXPECT_DOUBLE_EQ(q->min, 1);
  EXPECT_DOUBLE_EQ(q->p25, 2);
  EXPECT_DOUBLE_EQ(q->p50, 3);
  EXPECT_DOUBLE_EQ(q->p75, 4);
  EXPECT_DOUBLE_EQ(q->p95, 8.8);
  EXPECT_DOUBLE_EQ(q->p99, 9.76);
  EXPECT_DOUBLE_EQ(q->max, 10);
  EXPECT_DOUBLE_EQ(q->mean, 4);
}

TEST(Rates, BetweenTakesTheFirstMomentAndNotTheLast) {
  const std::vector<Sample> samples = {{0, 0}, {1, 1}, {2, 2}, {3, 3}};
  const auto part = between(samples, 1, 3);
  EXPECT_EQ(std::vector<Sample>(part.begin(), part.end()), (std::vector<Sample>{{1, 1}, {2, 2}}));
}

}  // namespace
}  // namespace trainwarden::profile
