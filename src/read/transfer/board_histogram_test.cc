#include "read/transfer/board_histogram.h"

#include <limits>
#include <numeric>

#include <gtest/gtest.h>

namespace trainwarden::transfer {
namespace {

foreign::TfHistogram histogram_of(const std::vector<float>& values) {
  const TensorView view = TensorView::of(values.data(), DType::kFloat32, {static_cast<std::int64_t>(values.size())});
  const auto statistics = compute_statistics(view, {.histogram = true});
  EXPECT_TRUE(statistics.ok());
  return board_histogram(*statistics);
}

// Of values in (left, right].
double count_in(const foreign::TfHistogram& histogram, double left, double right) {
  double count = 0;
  for (std::size_t i = 0; i < histogram.bucket.size(); ++i) {
    const double limit = histogram.bucket_limit[i];
    if (limit > left && limit <= right) count += histogram.bucket[i];
  }
  return count;
}

TEST(BoardHistogram, CountsAreExactOnBothSidesOfZero) {
  const auto histogram = histogram_of({-3.3f, -3.2f, -0.6f, 0.6f, 0.61f, 0.62f, 100.0f});
  EXPECT_EQ(histogram.num, 7);
  EXPECT_EQ(histogram.min, -3.3f);
  EXPECT_EQ(histogram.max, 100);
  EXPECT_EQ(std::accumulate(histogram.bucket.begin(), histogram.bucket.end(), 0.0), 7);
  EXPECT_EQ(count_in(histogram, -4, -3), 2);
  EXPECT_EQ(count_in(histogram, -1, -0.5), 1);
  EXPECT_EQ(count_in(histogram, -0.5, 0.5), 0);
  EXPECT_EQ(count_in(histogram, 0.5, 0.75), 3);
  EXPECT_EQ(count_in(histogram, 96, 112), 1);
}

TEST(BoardHistogram, LimitsRise) {
  const auto histogram = histogram_of({-1, -0.0f, 0.0f, 1e-40f, 1, 3e38f, -3e38f});
  for (std::size_t i = 1; i < histogram.bucket_limit.size(); ++i) {
    EXPECT_LT(histogram.bucket_limit[i - 1], histogram.bucket_limit[i]);
  }
  EXPECT_EQ(histogram.bucket.size(), histogram.bucket_limit.size());
}

TEST(BoardHistogram, WhatIsNotFiniteIsLeftOut) {
  const auto histogram =
      histogram_of({1, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(), 2});
  EXPECT_EQ(histogram.num, 2);
  EXPECT_EQ(histogram.sum, 3);
  EXPECT_EQ(histogram.sum_squares, 5);
}

}  // namespace
}  // namespace trainwarden::transfer
