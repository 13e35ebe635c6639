#include "trainwarden/given_statistics.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace trainwarden {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kEndless = std::numeric_limits<double>::infinity();

// Of {-2, 0, 3, 0.5}.
GivenStatistics four_elements() {
  GivenStatistics given;
  given.shape = Shape{2, 2};
  given.zero_count = 1;
  given.min = -2;
  given.max = 3;
  given.abs_min = 0;
  given.sum = 1.5;
  given.abs_sum = 5.5;
  given.square_sum = 13.25;
  return given;
}

TEST(GivenStatistics, AreThoseOfTheElementsWhereNothingIsRounded) {
  const std::vector<float> elements = {-2, 0, 3, 0.5F};
  Statistics exact = *compute_statistics(TensorView::of(elements.data(), DType::kFloat32, Shape{2, 2}));
  const Result<Statistics> given = approximate_statistics(four_elements());
  ASSERT_TRUE(given.ok()) << given.status().to_string();
  EXPECT_TRUE(given->approximate);
  EXPECT_NE(*given, exact) << "approximate ones are never equal to exact ones";
  exact.approximate = true;
  EXPECT_EQ(*given, exact);
}

TEST(GivenStatistics, EverySumIsHeldWithoutFurtherRounding) {
  for (const double sum :
       {1e300, -1e300, 5e-324, -3.0, 0.1, 0x1.fffffffffffffp1023, 0x1p-1000, 18446744073709551616.0}) {
    GivenStatistics given = four_elements();
    given.sum = sum;
    given.abs_sum = std::abs(sum);
    const Result<Statistics> held = approximate_statistics(given);
    ASSERT_TRUE(held.ok()) << held.status().to_string();
    EXPECT_EQ(held->sum.to_double(), sum);
    EXPECT_EQ(held->abs_sum.to_double(), std::abs(sum));
  }
}

TEST(GivenStatistics, ASumThatWasInfiniteStaysSo) {
  GivenStatistics given = four_elements();
  given.square_sum = kEndless;
  Statistics held = *approximate_statistics(given);
  EXPECT_EQ(held.l2(), kEndless);
  EXPECT_EQ(held.variance(), kEndless);
  EXPECT_EQ(held.mean(), 0.375);
  given.sum = -kEndless;
  given.abs_sum = kEndless;
  held = *approximate_statistics(given);
  EXPECT_EQ(held.mean(), -kEndless);
  EXPECT_EQ(held.l1(), kEndless);
  EXPECT_EQ(held.variance(), kEndless);
}

// (Σx)² is above n·Σx² by rounding: as when all elements are the same.
TEST(GivenStatistics, AVarianceIsNotBelowZero) {
  GivenStatistics given;
  given.shape = Shape{3};
  given.min = given.max = given.abs_min = 0.1F;
  given.sum = given.abs_sum = 0.30000004;
  given.square_sum = 0.03;
  EXPECT_EQ(approximate_statistics(given)->variance(), 0);
  EXPECT_EQ(approximate_statistics(given)->deviation(), 0);
}

TEST(GivenStatistics, NumbersOfNoElementsAreNotLookedAt) {
  GivenStatistics given;
  given.shape = Shape{3};
  given.nan_count = 2;
  given.negative_inf_count = 1;
  given.min = given.abs_min = kEndless;  // as a reduction of nothing begins
  given.max = -kEndless;
  const Result<Statistics> held = approximate_statistics(given);
  ASSERT_TRUE(held.ok()) << held.status().to_string();
  EXPECT_EQ(held->nan_count, 2u);
  EXPECT_EQ(held->finite_count(), 0u);
  EXPECT_TRUE(std::isnan(held->min));
  EXPECT_TRUE(std::isnan(held->abs_max));
}

TEST(GivenStatistics, ComplexElementsAreTwoComponents) {
  GivenStatistics given = four_elements();
  given.dtype = DType::kComplex64;
  given.shape = Shape{2};
  EXPECT_EQ(approximate_statistics(given)->count, 4u);
}

TEST(GivenStatistics, WhatIsMergedWithOneIsApproximate) {
  Statistics whole;
  whole.merge(*approximate_statistics(four_elements()));
  EXPECT_TRUE(whole.approximate);
  whole.merge(*compute_statistics(TensorView::of(nullptr, DType::kFloat32, Shape{0})));
  EXPECT_TRUE(whole.approximate);
}

TEST(GivenStatistics, NumbersThatCannotBeOfOneTensorAreRefused) {
  using Damage = void (*)(GivenStatistics&);
  const std::vector<Damage> damages = {
      [](GivenStatistics& given) { given.nan_count = 4; },  // and one zero, of four
      [](GivenStatistics& given) { given.positive_inf_count = ~std::uint64_t{0}; },
      [](GivenStatistics& given) { given.zero_count = 5; },
      [](GivenStatistics& given) { given.min = 4; },
      [](GivenStatistics& given) { given.min = kNotANumber; },
      [](GivenStatistics& given) { given.max = kEndless; },
      [](GivenStatistics& given) { given.abs_min = -1; },
      [](GivenStatistics& given) { given.abs_min = 2.5; },
      [](GivenStatistics& given) { given.sum = kNotANumber; },
      [](GivenStatistics& given) { given.sum = kEndless; },
      [](GivenStatistics& given) { given.abs_sum = -5.5; },
      [](GivenStatistics& given) { given.abs_sum = kEndless; },
      [](GivenStatistics& given) { given.square_sum = -1; },
      [](GivenStatistics& given) { given.square_sum = kNotANumber; },
      [](GivenStatistics& given) { given.dtype = DType::kString; },
  };
  for (std::size_t i = 0; i < damages.size(); ++i) {
    GivenStatistics given = four_elements();
    damages[i](given);
    const Result<Statistics> held = approximate_statistics(given);
    EXPECT_EQ(held.status().code(), Code::kInvalidArgument) << i;
    EXPECT_NE(held.status().message(), "") << i;
  }
}

}  // namespace
}  // namespace trainwarden
