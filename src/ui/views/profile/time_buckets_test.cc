#include "ui/views/profile/time_buckets.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace trainwarden::views {
namespace {

constexpr std::int64_t kBucketSecond = 1'000'000'000;

TEST(TimeBuckets, MeansOfWhatFellIntoEachStretch) {
  TimeBuckets buckets(0, 64);
  buckets.add(0, 1);
  buckets.add(kBucketSecond / 2, 3);
  buckets.add(kBucketSecond, 10);
  const auto means = buckets.means(0, 3 * kBucketSecond, 3);
  ASSERT_EQ(means.size(), 3U);
  EXPECT_DOUBLE_EQ(means[0], 2);
  EXPECT_DOUBLE_EQ(means[1], 10);
  EXPECT_TRUE(std::isnan(means[2])) << "nothing was there, which is not 0";
}

TEST(TimeBuckets, GrowsCoarserAndKeepsItsMeans) {
  TimeBuckets buckets(0, 16);
  for (int i = 0; i < 1000; ++i) buckets.add(i * kBucketSecond, i < 500 ? 1 : 5);
  EXPECT_GE(buckets.length_ns(), 1000 * kBucketSecond / 16);
  const auto means = buckets.means(0, 1000 * kBucketSecond, 4);
  EXPECT_DOUBLE_EQ(means[0], 1);
  EXPECT_DOUBLE_EQ(means[3], 5);
}

TEST(TimeBuckets, SpreadsOverTime) {
  TimeBuckets buckets(0, 1024);
  buckets.spread(0, 4 * kBucketSecond, 1);
  buckets.spread(4 * kBucketSecond, 5 * kBucketSecond, 0);
  const auto means = buckets.means(0, 10 * kBucketSecond, 2);
  EXPECT_NEAR(means[0], 0.8, 1e-6);
  EXPECT_TRUE(std::isnan(means[1]));
}

TEST(TimeBuckets, WhatIsNoTimeOrNoNumberIsLeftOut) {
  TimeBuckets buckets(100 * kBucketSecond, 16);
  buckets.add(0, 1);
  buckets.add(std::numeric_limits<std::int64_t>::max(), 1);
  buckets.add(std::numeric_limits<std::int64_t>::min(), 1);
  buckets.add(101 * kBucketSecond, std::numeric_limits<double>::quiet_NaN());
  buckets.add(101 * kBucketSecond, std::numeric_limits<double>::infinity());
  buckets.spread(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(), 1);
  buckets.spread(103 * kBucketSecond, 102 * kBucketSecond, 1);
  EXPECT_TRUE(std::isnan(buckets.means(100 * kBucketSecond, 110 * kBucketSecond, 1)[0]));
  EXPECT_TRUE(std::isnan(buckets.means(110 * kBucketSecond, 100 * kBucketSecond, 1)[0]))
      << "a stretch that ends before it begins";
}

}  // namespace
}  // namespace trainwarden::views
