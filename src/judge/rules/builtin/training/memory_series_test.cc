#include "judge/rules/builtin/training/memory_series.h"

#include <cmath>

#include <gtest/gtest.h>

namespace trainwarden::rules {
namespace {

constexpr GrowthLimits kLimits{.least_bytes = 100, .least_share = 0.06, .most_pull_back = 0.02};

// bytes(step) for the steps from 0 to count - 1.
template <class Bytes>
MemorySeries series_of(std::int64_t count, Bytes bytes, const GrowthLimits& limits = kLimits) {
  MemorySeries series(limits);
  for (std::int64_t step = 0; step < count; ++step) series.add(step, static_cast<double>(bytes(step)));
  return series;
}

TEST(MemorySeries, SteadyGrowthIsFoundWithItsSlope) {
  const auto growth = series_of(200, [](std::int64_t step) { return 1000 + 5 * step; }).growth();
  ASSERT_TRUE(growth);
  EXPECT_NEAR(growth->bytes_per_step, 5, 1e-9);
  EXPECT_NEAR(growth->bytes, 5 * 175, 10);
  EXPECT_EQ(growth->first_step, 0);
}

TEST(MemorySeries, ItNeedsPoints) {
  const auto grow = [](std::int64_t step) { return 1000 + 100 * step; };
  EXPECT_FALSE(series_of(31, grow).growth());
  EXPECT_TRUE(series_of(32, grow).growth());
}

TEST(MemorySeries, BothLimitsMustBePassed) {
  EXPECT_FALSE(series_of(200, [](std::int64_t step) { return 100'000 + 5 * step; }).growth());  // < 6 %
  EXPECT_FALSE(series_of(200, [](std::int64_t step) { return 100.0 + 0.5 * static_cast<double>(step); }).growth());
}

TEST(MemorySeries, GrowthThatLevelsOffIsNoLeak) {
  EXPECT_FALSE(series_of(400, [](std::int64_t step) {
                 return 1000 + 1000 * (1 - std::exp(-static_cast<double>(step) / 60));
               }).growth());
}

TEST(MemorySeries, OneStepUpIsNoLeak) {
  EXPECT_FALSE(series_of(400, [](std::int64_t step) { return step < 200 ? 1000 : 2000; }).growth());
}

TEST(MemorySeries, NoiseDoesNotHideALeak) {
  EXPECT_TRUE(series_of(400, [](std::int64_t step) { return 10'000 + 20 * step + (step % 7) * 10; }).growth());
}

TEST(MemorySeries, AFallBeginsAnew) {
  const auto sawtooth = [](std::int64_t step) { return 1000 + 10 * (step % 25); };
  EXPECT_FALSE(series_of(400, sawtooth).growth());
  const auto growth = series_of(300, [](std::int64_t step) { return (step < 100 ? 5000 : 1000) + 10 * step; }).growth();
  ASSERT_TRUE(growth);
  EXPECT_EQ(growth->first_step, 100);
}

TEST(MemorySeries, AThousandfoldRunIsThinnedOut) {
  const auto growth = series_of(100'000, [](std::int64_t step) { return 1000 + step; }).growth();
  ASSERT_TRUE(growth);
  EXPECT_NEAR(growth->bytes_per_step, 1, 1e-9);
  EXPECT_EQ(growth->first_step, 0);
}

}  // namespace
}  // namespace trainwarden::rules
