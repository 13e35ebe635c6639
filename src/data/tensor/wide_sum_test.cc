#include "data/tensor/wide_sum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "data/tensor/reference_statistics.h"

namespace trainwarden {
namespace {

TEST(WideSum, NothingIsZero) {
  const FloatSum sum;
  EXPECT_EQ(sum.exact(), ExactSum{});
}

TEST(WideSum, CancelsToNothing) {
  DoubleSum sum;
  sum.add(std::int64_t{1}, 1900);
  sum.add(std::int64_t{1}, -2148);
  sum.add(std::int64_t{-1}, 1900);
  sum.add(std::int64_t{-1}, -2148);
  EXPECT_EQ(sum.exact(), ExactSum{});
}

TEST(WideSum, KeepsTheSmallestBesideTheLargest) {
  DoubleSum sum;
  sum.add(std::int64_t{1}, 2050);
  sum.add(std::int64_t{-1}, -2148);
  const ExactSum exact = sum.exact();
  EXPECT_FALSE(exact.negative);
  EXPECT_EQ(exact.lowest_limb, -34);
  ASSERT_EQ(exact.limbs.size(), 34u + 33u);  // 2^2050 less 2^-2148: ones from end to end
  EXPECT_EQ(exact.limbs.front(), ~((std::uint64_t{1} << 28) - 1));
  EXPECT_EQ(exact.limbs.back(), 3u);
}

TEST(WideSum, AgreesWithTheReference) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 50; ++round) {
    DoubleSum sum;
    ReferenceSum reference;
    for (int i = 0; i < 40; ++i) {
      const auto units = static_cast<std::int64_t>(random() >> 11) * (random() % 2 == 0 ? 1 : -1);
      const int exponent = static_cast<int>(random() % 2000) - 1074;
      sum.add(units, exponent);
      reference.add(std::ldexp(static_cast<double>(units), exponent));
    }
    ASSERT_EQ(sum.exact(), reference.exact());
  }
}

TEST(WideSum, TakesAll128Bits) {
  FloatSum sum;
  const Int128 units = (static_cast<Int128>(0x7fffffffffffffff) << 64) | 0xffffffffffffffff;
  sum.add(units, 7);
  sum.add(-units, 7);
  EXPECT_EQ(sum.exact(), ExactSum{});
  sum.add(-units, -64);
  EXPECT_EQ(sum.exact(), (ExactSum{true, -1, {~std::uint64_t{0}, ~std::uint64_t{0} >> 1}}));
}

TEST(CarryChunks, KeepsTheSignInTheLast) {
  std::array<std::int64_t, 3> chunks = {-1, 0, 0};
  carry_chunks(chunks);
  EXPECT_EQ(chunks, (std::array<std::int64_t, 3>{0xffffffff, 0xffffffff, -1}));
  chunks = {std::int64_t{5} << 32, std::int64_t{1} << 40, 7};
  carry_chunks(chunks);
  EXPECT_EQ(chunks, (std::array<std::int64_t, 3>{0, 5, 7 + 256}));
}

}  // namespace
}  // namespace trainwarden
