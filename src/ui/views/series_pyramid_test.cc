#include "ui/views/series_pyramid.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace trainwarden::views {
namespace {

double number(std::size_t i) {
  if (i % 97 == 13) return std::numeric_limits<double>::quiet_NaN();
  if (i % 211 == 7) return i % 2 == 0 ? INFINITY : -INFINITY;
  return std::sin(static_cast<double>(i)) * static_cast<double>(i % 1000);
}

SeriesPyramid pyramid_of(std::size_t count) {
  SeriesPyramid pyramid;
  for (std::size_t i = 0; i < count; ++i) {
    pyramid.append(3 * static_cast<std::int64_t>(i), static_cast<std::int64_t>(i) * 10, number(i));
  }
  return pyramid;
}

void expect_same(const SeriesSummary& a, const SeriesSummary& b) {
  const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  EXPECT_TRUE(same(a.min, b.min) && same(a.max, b.max) && same(a.first, b.first) && same(a.last, b.last));
  EXPECT_EQ(a.count, b.count);
  EXPECT_EQ(a.nan, b.nan);
  EXPECT_EQ(a.positive_inf, b.positive_inf);
  EXPECT_EQ(a.negative_inf, b.negative_inf);
}

TEST(SeriesPyramid, SumsUpAnyStretchAsOneByOne) {
  const SeriesPyramid pyramid = pyramid_of(300'000);
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    std::size_t begin = random() % 300'001;
    std::size_t end = random() % 300'001;
    if (begin > end) std::swap(begin, end);
    SeriesSummary expected;
    for (std::size_t k = begin; k < end; ++k) expected.add(number(k));
    expect_same(pyramid.summary(begin, end), expected);
  }
}

TEST(SeriesPyramid, CutsAStretchIntoBucketsThatMissNothing) {
  const SeriesPyramid pyramid = pyramid_of(10'000);
  for (const std::size_t count : {1U, 7U, 640U, 9'999U, 20'000U}) {
    const auto buckets = pyramid.buckets(100, 9'000, count);
    EXPECT_LE(buckets.size(), count);
    SeriesSummary all;
    std::int64_t last = -1;
    for (const SeriesBucket& bucket : buckets) {
      EXPECT_GT(bucket.first_step, last);
      last = bucket.last_step;
      EXPECT_EQ(bucket.first_unix_ns, bucket.first_step / 3 * 10);
      all.add(bucket.summary);
    }
    EXPECT_EQ(last, 3 * 8'999);
    expect_same(all, pyramid.summary(100, 9'000));
  }
  EXPECT_TRUE(pyramid.buckets(5, 5, 10).empty());
  EXPECT_EQ(pyramid.at_or_after(7), 3U);
}

TEST(SeriesPyramid, KeepsALonelyExtreme) {
  SeriesPyramid pyramid;
  for (std::int64_t i = 0; i < 100'000; ++i) pyramid.append(i, 0, i == 77'777 ? -1e9 : 1.0);
  double lowest = 0;
  for (const SeriesBucket& bucket : pyramid.buckets(0, 100'000, 500)) lowest = std::min(lowest, bucket.summary.min);
  EXPECT_EQ(lowest, -1e9);
}

}  // namespace
}  // namespace trainwarden::views
