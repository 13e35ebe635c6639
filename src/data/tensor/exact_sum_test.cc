#include "data/tensor/exact_sum.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "data/tensor/reference_statistics.h"

namespace trainwarden {
namespace {

ExactSum exact(double value) {
  ReferenceSum sum;
  sum.add(value);
  return sum.exact();
}

ExactSum exact_square(double value) {
  ReferenceSum sum;
  sum.add_square(value);
  return sum.exact();
}

// Within a range where neither sums nor quotients leave the doubles.
double random_finite(std::mt19937_64& random) {
  const double mantissa = std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 200) - 150);
  return random() % 2 == 0 ? mantissa : -mantissa;
}

TEST(ExactSum, TrimmedFormIsUnique) {
  EXPECT_EQ(make_exact_sum(true, 5, {0, 0}), ExactSum{});
  EXPECT_EQ(make_exact_sum(true, 5, {}), ExactSum{});
  EXPECT_EQ(make_exact_sum(true, -3, {0, 7, 0}), (ExactSum{true, -2, {7}}));
  EXPECT_EQ(make_exact_sum(false, 0, {1, 0, 2}), (ExactSum{false, 0, {1, 0, 2}}));
}

TEST(ExactSum, DoublesComeBack) {
  for (const double value : {0.0, 1.0, -1.5, 0x1p-1074, -0x1p-1022, 0x1.fffffffffffffp1023, -1e300, 1e-300}) {
    EXPECT_EQ(exact(value).to_double(), value);
  }
}

// One IEEE addition rounds correctly, so it is a reference.
TEST(ExactSum, AddsLikeIeeeButWithoutRounding) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 5000; ++round) {
    const double a = random_finite(random);
    const double b = random() % 4 == 0 ? -a * (1 + 0x1p-52) : random_finite(random);
    ExactSum sum = exact(a);
    sum.add(exact(b));
    ASSERT_EQ(sum.to_double(), a + b) << a << " + " << b;
    sum.add(exact(-a));
    ASSERT_EQ(sum, exact(b)) << "nothing was lost";
  }
}

TEST(ExactSum, AddingZeroChangesNothing) {
  ExactSum sum = exact(3);
  sum.add(ExactSum{});
  EXPECT_EQ(sum, exact(3));
  ExactSum zero;
  zero.add(exact(-3));
  EXPECT_EQ(zero, exact(-3));
  zero.add(exact(3));
  EXPECT_EQ(zero, ExactSum{});
}

TEST(ExactSum, OverflowsToInfinity) {
  ExactSum sum = exact(-std::numeric_limits<double>::max());
  sum.add(exact(-std::numeric_limits<double>::max()));
  EXPECT_EQ(sum.to_double(), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(exact_mean(sum, 2), -std::numeric_limits<double>::max());
}

TEST(ExactSum, MeanAndRootAreRoundedOnce) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 5000; ++round) {
    const double value = random_finite(random);
    const std::uint64_t count = random() >> (11 + random() % 50) | 1;
    ASSERT_EQ(exact_mean(exact(value), count), value / static_cast<double>(count));
    ASSERT_EQ(exact_square_root(exact(std::fabs(value))), std::sqrt(std::fabs(value)));
  }
}

TEST(ExactSum, VarianceDoesNotCancel) {
  // 1e8 and 1e8 + 1: mean 1e8 + 0.5, variance 0.25; in doubles n·Σx² − (Σx)² would be a difference of 4e16s.
  ExactSum sum = exact(1e8);
  sum.add(exact(1e8 + 1));
  ExactSum square_sum = exact_square(1e8);
  square_sum.add(exact_square(1e8 + 1));
  EXPECT_EQ(exact_variance(sum, square_sum, 2), 0.25);
  EXPECT_EQ(exact_deviation(sum, square_sum, 2), 0.5);
  EXPECT_EQ(exact_variance(exact(0.1), exact_square(0.1), 1), 0.0);
}

TEST(ExactSum, VarianceOfTwoNumbers) {
  std::mt19937_64 random(6);
  for (int round = 0; round < 1000; ++round) {
    // ((a - b) / 2)² is exact for small mantissas.
    const double a = std::ldexp(static_cast<double>(random() % 4096), static_cast<int>(random() % 8));
    const double b = -std::ldexp(static_cast<double>(random() % 4096), static_cast<int>(random() % 8));
    ExactSum sum = exact(a);
    sum.add(exact(b));
    ExactSum square_sum = exact_square(a);
    square_sum.add(exact_square(b));
    ASSERT_EQ(exact_variance(sum, square_sum, 2), (a - b) * (a - b) / 4);
    ASSERT_EQ(exact_deviation(sum, square_sum, 2), (a - b) / 2);
  }
}

}  // namespace
}  // namespace trainwarden
