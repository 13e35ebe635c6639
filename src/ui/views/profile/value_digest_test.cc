#include "ui/views/profile/value_digest.h"

#include <limits>

#include <gtest/gtest.h>

namespace trainwarden::views {
namespace {

TEST(ValueDigest, IsExactWhileAllFit) {
  ValueDigest digest(200);
  for (int i = 0; i <= 100; ++i) digest.add(i);
  const auto values = digest.distribution();
  ASSERT_TRUE(values);
  EXPECT_DOUBLE_EQ(values->min, 0);
  EXPECT_DOUBLE_EQ(values->p50, 50);
  EXPECT_DOUBLE_EQ(values->p95, 95);
  EXPECT_DOUBLE_EQ(values->max, 100);
  EXPECT_DOUBLE_EQ(values->mean, 50);
  EXPECT_DOUBLE_EQ(digest.last(), 100);
}

TEST(ValueDigest, KeepsExtremesAndMeanOfMoreThanFit) {
  ValueDigest digest(64);
  for (int i = 0; i < 10'000; ++i) digest.add(i == 7777 ? 1e9 : i % 100);
  const auto values = digest.distribution();
  ASSERT_TRUE(values);
  EXPECT_EQ(digest.count(), 10'000U);
  EXPECT_DOUBLE_EQ(values->max, 1e9);
  EXPECT_NEAR(values->mean, 49.5 + 1e5, 10);
  EXPECT_GE(values->p50, 0);
  EXPECT_LE(values->p50, 100);
}

TEST(ValueDigest, OfNothingThereIsNothing) {
  ValueDigest digest(4);
  digest.add(std::numeric_limits<double>::quiet_NaN());
  EXPECT_FALSE(digest.distribution());
}

}  // namespace
}  // namespace trainwarden::views
