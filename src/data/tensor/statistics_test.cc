// What is read off Statistics, and merging. How they are computed: compute_statistics_test.cc.
#include "trainwarden/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace trainwarden {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

Statistics of(const std::vector<float>& values, const StatisticsOptions& options = {}) {
  const Shape shape = {static_cast<std::int64_t>(values.size())};
  return compute_statistics(TensorView::of(values.data(), DType::kFloat32, shape), options).value();
}

double reduce(const std::vector<float>& values, Reduction reduction, bool abs = false) {
  return of(values).reduction(reduction, abs);
}

TEST(Statistics, ReadsFiniteValues) {
  const Statistics s = of({1, -2, 3, -4, 0});
  EXPECT_EQ(s.count, 5u);
  EXPECT_EQ(s.zero_count, 1u);
  EXPECT_EQ(s.min, -4);
  EXPECT_EQ(s.max, 3);
  EXPECT_EQ(s.abs_min, 0);
  EXPECT_EQ(s.abs_max, 4);
  EXPECT_EQ(s.sum.to_double(), -2);
  EXPECT_EQ(s.mean(), -0.4);
  EXPECT_EQ(s.abs_mean(), 2);
  EXPECT_EQ(s.variance(), 5.84);  // 30 / 5 - 0.16
  EXPECT_EQ(s.abs_variance(), 2);
  EXPECT_EQ(s.deviation(), std::sqrt(5.84));
  EXPECT_EQ(s.abs_deviation(), std::sqrt(2.0));
  EXPECT_EQ(s.l1(), 10);
  EXPECT_EQ(s.l2(), std::sqrt(30.0));
}

TEST(Statistics, EmptyAndAllBadReadAsNan) {
  for (const Statistics& s : {Statistics{}, of({}), of({NAN, kInfinity})}) {
    EXPECT_TRUE(std::isnan(s.min));
    EXPECT_TRUE(std::isnan(s.max));
    EXPECT_TRUE(std::isnan(s.abs_min));
    EXPECT_TRUE(std::isnan(s.abs_max));
    EXPECT_TRUE(std::isnan(s.mean()));
    EXPECT_TRUE(std::isnan(s.abs_mean()));
    EXPECT_TRUE(std::isnan(s.variance()));
    EXPECT_TRUE(std::isnan(s.deviation()));
    EXPECT_TRUE(std::isnan(s.abs_variance()));
    EXPECT_TRUE(std::isnan(s.l1()));
    EXPECT_TRUE(std::isnan(s.l2()));
  }
}

TEST(Statistics, ReductionsOfFiniteValues) {
  const std::vector<float> values = {1, -2, 4};
  EXPECT_EQ(reduce(values, Reduction::kMin), -2);
  EXPECT_EQ(reduce(values, Reduction::kMin, true), 1);
  EXPECT_EQ(reduce(values, Reduction::kMax), 4);
  EXPECT_EQ(reduce(values, Reduction::kMax, true), 4);
  EXPECT_EQ(reduce(values, Reduction::kSum), 3);
  EXPECT_EQ(reduce(values, Reduction::kSum, true), 7);
  EXPECT_EQ(reduce(values, Reduction::kMean), 1);
  EXPECT_EQ(reduce(values, Reduction::kMean, true), 7.0 / 3);
  EXPECT_EQ(reduce(values, Reduction::kVariance), 6);
  EXPECT_EQ(reduce(values, Reduction::kVariance, true), 14.0 / 9);
  EXPECT_EQ(reduce(values, Reduction::kStd), std::sqrt(6.0));
  EXPECT_EQ(reduce(values, Reduction::kL1), 7);
  EXPECT_EQ(reduce(values, Reduction::kL1, true), 7);
  EXPECT_EQ(reduce(values, Reduction::kL2), std::sqrt(21.0));
}

TEST(Statistics, ReductionsOfNothing) {
  for (const Reduction reduction : {Reduction::kSum, Reduction::kL1, Reduction::kL2}) {
    EXPECT_EQ(reduce({}, reduction), 0);
  }
  for (const Reduction reduction :
       {Reduction::kMin, Reduction::kMax, Reduction::kMean, Reduction::kStd, Reduction::kVariance}) {
    EXPECT_TRUE(std::isnan(reduce({}, reduction)));
  }
}

TEST(Statistics, OneNanMakesEveryReductionNan) {
  for (int i = 0; i < kReductionCount; ++i) {
    EXPECT_TRUE(std::isnan(reduce({1, NAN, kInfinity}, static_cast<Reduction>(i))));
    EXPECT_TRUE(std::isnan(reduce({1, NAN}, static_cast<Reduction>(i), true)));
  }
}

TEST(Statistics, InfinitiesShowAsInIeeeArithmetic) {
  const std::vector<float> up = {1, kInfinity};
  const std::vector<float> down = {1, -kInfinity};
  const std::vector<float> both = {1, kInfinity, -kInfinity};
  EXPECT_EQ(reduce(up, Reduction::kMin), 1);
  EXPECT_EQ(reduce(up, Reduction::kMax), kInfinity);
  EXPECT_EQ(reduce(down, Reduction::kMin), -kInfinity);
  EXPECT_EQ(reduce(down, Reduction::kMax), 1);
  EXPECT_EQ(reduce(down, Reduction::kMax, true), kInfinity);
  EXPECT_EQ(reduce(down, Reduction::kMin, true), 1);
  EXPECT_EQ(reduce({kInfinity}, Reduction::kMin), kInfinity);
  EXPECT_EQ(reduce({-kInfinity}, Reduction::kMax), -kInfinity);
  EXPECT_EQ(reduce({-kInfinity}, Reduction::kMin, true), kInfinity);
  for (const Reduction sum : {Reduction::kSum, Reduction::kMean}) {
    EXPECT_EQ(reduce(up, sum), kInfinity);
    EXPECT_EQ(reduce(down, sum), -kInfinity);
    EXPECT_EQ(reduce(down, sum, true), kInfinity);
    EXPECT_TRUE(std::isnan(reduce(both, sum)));
    EXPECT_EQ(reduce(both, sum, true), kInfinity);
  }
  for (const Reduction norm : {Reduction::kL1, Reduction::kL2}) EXPECT_EQ(reduce(down, norm), kInfinity);
  for (const Reduction spread : {Reduction::kVariance, Reduction::kStd}) EXPECT_TRUE(std::isnan(reduce(up, spread)));
}

TEST(Statistics, EqualityIsBitForBitButForNan) {
  EXPECT_EQ(of({}), of({}));
  EXPECT_EQ(of({1, 2}), of({2, 1}));
  EXPECT_FALSE(of({1, 2}) == of({1, 2 + 0x1p-22f}));
  EXPECT_FALSE(of({1}, {.hash = true}) == of({1}));
  EXPECT_FALSE(of({1, 2}, {.hash = true}) == of({2, 1}, {.hash = true}));
  Statistics a = of({1});
  a.min = 0.0;
  Statistics b = a;
  b.min = -0.0;
  EXPECT_FALSE(a == b);
}

TEST(Merge, DefaultIsNeutral) {
  const Statistics s = of({1, -2, NAN, kInfinity}, {.histogram = true, .hash = true});
  Statistics left;
  left.merge(s);
  EXPECT_EQ(left, s);
  Statistics right = s;
  right.merge(Statistics{});
  EXPECT_EQ(right, s);
}

TEST(Merge, HashAndHistogramNeedAllParts) {
  const Statistics with = of({1, 2}, {.histogram = true, .hash = true});
  const Statistics without = of({3});
  Statistics merged = with;
  merged.merge(without);
  EXPECT_FALSE(merged.has_hash);
  EXPECT_FALSE(merged.has_histogram);
  EXPECT_EQ(merged, of({1, 2, 3}));
  merged.merge(with);  // what was missing once stays missing
  EXPECT_EQ(merged, of({1, 2, 3, 1, 2}));
}

TEST(Merge, HashKnowsTheOrder) {
  const StatisticsOptions options = {.hash = true};
  Statistics forward = of({1, 2}, options);
  forward.merge(of({3}, options));
  EXPECT_EQ(forward, of({1, 2, 3}, options));
  Statistics backward = of({3}, options);
  backward.merge(of({1, 2}, options));
  EXPECT_NE(backward.hash, forward.hash);
  EXPECT_EQ(backward, of({3, 1, 2}, options));
}

}  // namespace
}  // namespace trainwarden
