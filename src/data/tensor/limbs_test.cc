#include "data/tensor/limbs.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace trainwarden {
namespace {

constexpr std::uint64_t kAll = ~std::uint64_t{0};

Limbs without_top_zeros(Limbs limbs) {
  while (!limbs.empty() && limbs.back() == 0) limbs.pop_back();
  return limbs;
}

Limbs random_limbs(std::mt19937_64& random) {
  Limbs limbs(random() % 6);
  for (std::uint64_t& limb : limbs) limb = random() % 4 == 0 ? (random() % 2 == 0 ? 0 : kAll) : random();
  return limbs;
}

// value = mantissa × 2^exponent
Magnitude magnitude_of(double value) {
  int exponent = 0;
  const double fraction = std::frexp(value, &exponent);
  return {{static_cast<std::uint64_t>(std::ldexp(fraction, 53))}, exponent - 53, false};
}

double random_double(std::mt19937_64& random) {
  double value = NAN;
  while (!std::isfinite(value)) value = std::fabs(std::bit_cast<double>(random()));
  return value;
}

TEST(Limbs, ComparesAcrossLengths) {
  EXPECT_EQ(compare({}, {0, 0}), 0);
  EXPECT_LT(compare({5}, {4, 1}), 0);
  EXPECT_GT(compare({5, 1}, {6}), 0);
  EXPECT_GT(compare({1, 7}, {0, 7}), 0);
}

TEST(Limbs, CarriesAndBorrowsAllTheWay) {
  EXPECT_EQ(add({kAll, kAll}, {1}), (Limbs{0, 0, 1}));
  EXPECT_EQ(subtract({0, 0, 1}, {1}), (Limbs{kAll, kAll, 0}));
  EXPECT_EQ(multiply({kAll}, {kAll}), (Limbs{1, kAll - 1}));
  EXPECT_EQ(multiply({}, {1, 2}), (Limbs{0, 0}));
}

TEST(Limbs, ArithmeticAgreesWithItself) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 2000; ++round) {
    const Limbs a = random_limbs(random);
    const Limbs b = random_limbs(random);
    const Limbs c = random_limbs(random);
    EXPECT_EQ(without_top_zeros(subtract(add(a, b), b)), without_top_zeros(a));
    EXPECT_EQ(without_top_zeros(multiply(a, add(b, c))), without_top_zeros(add(multiply(a, b), multiply(a, c))));
    const std::uint64_t divisor = random() >> (random() % 64) | 1;
    Limbs quotient = a;
    const std::uint64_t remainder = divide(quotient, divisor);
    EXPECT_LT(remainder, divisor);
    EXPECT_EQ(without_top_zeros(add(multiply(quotient, {divisor}), {remainder})), without_top_zeros(a));
  }
}

TEST(Rounding, EveryDoubleComesBack) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 20'000; ++round) {
    const double value = random_double(random);
    ASSERT_EQ(to_double(magnitude_of(value)), value);
  }
  for (const double value : {0.0, 0x1p-1074, 0x1p-1022, 0x1.fffffffffffffp-1023, 0x1.fffffffffffffp1023}) {
    EXPECT_EQ(to_double(magnitude_of(value)), value);
  }
}

TEST(Rounding, TiesGoToEven) {
  const auto rounded = [](Limbs limbs, std::int64_t lowest_bit, bool truncated) {
    return to_double({std::move(limbs), lowest_bit, truncated});
  };
  constexpr std::uint64_t kOne = std::uint64_t{1} << 53;  // the last bit that a double has below this is 2
  EXPECT_EQ(rounded({kOne + 1}, 0, false), 0x1p53);
  EXPECT_EQ(rounded({kOne + 1}, 0, true), 0x1p53 + 2);
  EXPECT_EQ(rounded({kOne + 3}, 0, false), 0x1p53 + 4);
  EXPECT_EQ(rounded({1, kOne + 1}, 0, false), std::ldexp(0x1p53 + 2, 64));
  EXPECT_EQ(rounded({1, 0, 0, kOne + 1}, 0, false), std::ldexp(0x1p53 + 2, 192));
  EXPECT_EQ(rounded({kAll}, 0, false), 0x1p64);
}

TEST(Rounding, DenormalsZeroAndInfinity) {
  const auto rounded = [](std::uint64_t limb, std::int64_t lowest_bit, bool truncated = false) {
    return to_double({{limb}, lowest_bit, truncated});
  };
  EXPECT_EQ(rounded(1, -1074), 0x1p-1074);
  EXPECT_EQ(rounded(1, -1075), 0.0);              // half of the smallest: a tie, to even
  EXPECT_EQ(rounded(1, -1075, true), 0x1p-1074);  // a little more than half
  EXPECT_EQ(rounded(3, -1076), 0x1p-1074);
  EXPECT_EQ(rounded(1, -1076, true), 0.0);
  EXPECT_EQ(rounded(1, -3000), 0.0);
  EXPECT_EQ(rounded(3, -1075), 0x1p-1073);                             // 1.5 smallest: a tie, to even
  EXPECT_EQ(rounded((std::uint64_t{1} << 53) - 1, -1075), 0x1p-1022);  // rounds up into the normal numbers
  EXPECT_EQ(rounded(kAll, 960), std::numeric_limits<double>::infinity());
  EXPECT_EQ(rounded(std::uint64_t{0x1fffffffffffff} << 11, 960), std::numeric_limits<double>::max());
  EXPECT_EQ(rounded(1, 1024), std::numeric_limits<double>::infinity());
  EXPECT_EQ(to_double({{}, 0, false}), 0.0);
  EXPECT_EQ(to_double({{0, 0}, 0, false}), 0.0);
}

// IEEE arithmetic rounds correctly, so one operation on doubles is a reference.
TEST(Rounding, QuotientAgreesWithIeee) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 20'000; ++round) {
    const double value = random_double(random);
    const std::uint64_t divisor = (random() >> (11 + random() % 53)) | 1;
    ASSERT_EQ(to_double(quotient(magnitude_of(value), divisor, 1)), value / static_cast<double>(divisor));
  }
}

TEST(Rounding, QuotientByASquare) {
  EXPECT_EQ(to_double(quotient({{18}, 0, false}, 3, 2)), 2.0);
  EXPECT_EQ(to_double(quotient({{1}, 0, false}, 10, 2)), 0.01);
  EXPECT_EQ(to_double(quotient({{1}, 0, false}, kAll, 2)), 0x1p-128);
  EXPECT_EQ(to_double(quotient({{}, 0, false}, 10, 2)), 0.0);
}

TEST(Rounding, SquareRootAgreesWithIeee) {
  std::mt19937_64 random(9);
  for (int round = 0; round < 20'000; ++round) {
    const double value = random_double(random);
    ASSERT_EQ(square_root(magnitude_of(value)), std::sqrt(value));
  }
  EXPECT_EQ(square_root({{}, 0, false}), 0.0);
  EXPECT_EQ(square_root({{1}, 2400, false}), std::numeric_limits<double>::infinity());
  EXPECT_EQ(square_root({{1}, 2000, false}), 0x1p1000);  // whose square is no double
  EXPECT_EQ(square_root({{1}, -2148, false}), 0x1p-1074);
}

}  // namespace
}  // namespace trainwarden
