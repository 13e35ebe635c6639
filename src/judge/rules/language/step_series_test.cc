#include "judge/rules/language/step_series.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace trainwarden::rules::language {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

StepSeries series_of(Op op, std::size_t length, const std::vector<double>& numbers) {
  StepSeries series(op, length);
  for (const double number : numbers) series.push(number);
  return series;
}

TEST(StepSeries, IsFullWithItsLastNumber) {
  StepSeries series(Op::kWindowMean, 3);
  EXPECT_TRUE(series.push(1));
  EXPECT_TRUE(series.push(2));
  EXPECT_FALSE(series.full());
  EXPECT_TRUE(series.push(6));
  EXPECT_TRUE(series.full());
  EXPECT_EQ(series.answer(0), 3);
  EXPECT_FALSE(series.push(7));  // does not grow any more
  EXPECT_EQ(series.answer(0), 5);
}

TEST(StepSeries, EachKindOfWindow) {
  const std::vector<double> numbers = {100, 4, 1, 3, 8};
  EXPECT_EQ(series_of(Op::kWindowMedian, 4, numbers).answer(0), 3.5);
  EXPECT_EQ(series_of(Op::kWindowMin, 4, numbers).answer(0), 1);
  EXPECT_EQ(series_of(Op::kWindowMax, 4, numbers).answer(0), 8);
  EXPECT_EQ(series_of(Op::kWindowSum, 4, numbers).answer(0), 16);
  EXPECT_EQ(series_of(Op::kWindowStd, 4, numbers).answer(0), std::sqrt(26.0 / 4));
  EXPECT_EQ(series_of(Op::kLag, 4, numbers).answer(0), 4);
  EXPECT_EQ(series_of(Op::kChange, 4, numbers).answer(10), 6);
  EXPECT_EQ(series_of(Op::kFirst, 1, numbers).answer(0), 100);
}

// Against the plain way, over numbers in no order with many that are equal and some that are NaN.
TEST(StepSeries, TheMedianSlides) {
  constexpr std::size_t kLength = 7;
  StepSeries series(Op::kWindowMedian, kLength);
  std::vector<double> all;
  std::uint32_t random = 1;
  for (int i = 0; i < 500; ++i) {
    random = random * 1664525U + 1013904223U;
    const double number = (random >> 28U) == 15 ? kNan : static_cast<double>(random >> 29U);
    series.push(number);
    all.push_back(number);
    if (all.size() < kLength) continue;
    const std::vector<double> last(all.end() - kLength, all.end());
    const double expected = median_of(last);
    ASSERT_TRUE(series.answer(0) == expected || (std::isnan(expected) && std::isnan(series.answer(0)))) << i;
  }
}

TEST(StepSeries, NanIsLeftOutAndNothingButNanIsNan) {
  const std::vector<double> some = {kNan, 2, 4};
  EXPECT_EQ(mean_of(some), 3);
  EXPECT_EQ(sum_of(some), 6);
  EXPECT_EQ(smallest_of(some), 2);
  EXPECT_EQ(largest_of(some), 4);
  EXPECT_EQ(median_of(some), 3);
  EXPECT_EQ(deviation_of(some), 1);
  for (const double number :
       {mean_of({kNan}), sum_of({kNan}), smallest_of({}), largest_of({kNan}), median_of({}), deviation_of({kNan})}) {
    EXPECT_TRUE(std::isnan(number));
  }
}

TEST(StepSeries, LargeNumbersHaveAMedian) {
  const double large = std::numeric_limits<double>::max();
  EXPECT_EQ(median_of({large, large}), large);
}

}  // namespace
}  // namespace trainwarden::rules::language
