// Every pattern of every small type against its definition: (-1)^s · 2^(e-bias) · 1.m, and 2^(1-bias) · 0.m when e is
// 0.
#include "data/tensor/half.h"

#include <gtest/gtest.h>

#include <cmath>

#include "data/tensor/element.h"

namespace trainwarden {
namespace {

struct Layout {
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;  // else only the very last pattern of each sign is NaN
};

double by_definition(unsigned bits, const Layout& layout) {
  const unsigned mantissa_count = 1u << layout.mantissa_bits;
  const unsigned exponent_count = 1u << layout.exponent_bits;
  const unsigned mantissa = bits % mantissa_count;
  const unsigned exponent = bits / mantissa_count % exponent_count;
  const double sign = bits / mantissa_count / exponent_count != 0 ? -1 : 1;
  const int bias = static_cast<int>(exponent_count / 2) - 1;
  const double fraction = static_cast<double>(mantissa) / mantissa_count;
  if (exponent == exponent_count - 1 && layout.has_infinity) return mantissa == 0 ? sign * INFINITY : NAN;
  if (exponent == exponent_count - 1 && mantissa == mantissa_count - 1) return NAN;
  if (exponent == 0) return sign * std::pow(2.0, 1 - bias) * fraction;
  return sign * std::pow(2.0, static_cast<int>(exponent) - bias) * (1 + fraction);
}

template <class T>
void expect_all_patterns(const Layout& layout) {
  const unsigned pattern_count = 1u << (1 + layout.exponent_bits + layout.mantissa_bits);
  for (unsigned bits = 0; bits < pattern_count; ++bits) {
    const double expected = by_definition(bits, layout);
    const float found = to_float(T{static_cast<decltype(T::bits)>(bits)});
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(found)) << "pattern " << bits;
    } else {
      ASSERT_EQ(static_cast<double>(found), expected) << "pattern " << bits;
    }
    ASSERT_EQ(std::signbit(found), bits >= pattern_count / 2) << "pattern " << bits;
  }
}

TEST(Half, Float16) {
  expect_all_patterns<Float16>({5, 10, true});
}
TEST(Half, BFloat16) {
  expect_all_patterns<BFloat16>({8, 7, true});
}
TEST(Half, Float8E4M3) {
  expect_all_patterns<Float8E4M3>({4, 3, false});
}
TEST(Half, Float8E5M2) {
  expect_all_patterns<Float8E5M2>({5, 2, true});
}

TEST(Half, LargestAndSmallest) {
  EXPECT_EQ(to_float(Float16{0x7bff}), 65504.0f);
  EXPECT_EQ(to_float(Float16{0x0001}), 0x1p-24f);
  EXPECT_EQ(to_float(Float8E4M3{0x7e}), 448.0f);
  EXPECT_EQ(to_float(Float8E5M2{0x7b}), 57344.0f);
  EXPECT_EQ(to_float(BFloat16{0x0001}), 0x1p-133f);
}

TEST(Half, Bool) {
  EXPECT_EQ(to_float(Bool8{0}), 0.0f);
  EXPECT_EQ(to_float(Bool8{1}), 1.0f);
  EXPECT_EQ(to_float(Bool8{255}), 1.0f);
}

}  // namespace
}  // namespace trainwarden
