#include "work/experiments/metric_summary.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace trainwarden::experiments {
namespace {

MetricSummary summary_of(const std::vector<double>& values, std::int64_t first_ns = 1) {
  MetricSummary summary;
  for (const double value : values) summary.add(value, first_ns++);
  return summary;
}

TEST(MetricSummaryTest, SaysWhatTheValuesWere) {
  const MetricSummary summary = summary_of({2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_EQ(summary.count, 8u);
  EXPECT_EQ(summary.min, 2);
  EXPECT_EQ(summary.max, 9);
  EXPECT_DOUBLE_EQ(summary.mean, 5);
  EXPECT_DOUBLE_EQ(summary.deviation(), 2);
  EXPECT_EQ(summary.last, 9);
  EXPECT_EQ(summary.last_unix_ns, 8);
}

TEST(MetricSummaryTest, MergingIsAddingAll) {
  const std::vector<double> values = {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16, -3, 0.5};
  const MetricSummary whole = summary_of(values);
  for (std::size_t cut = 0; cut <= values.size(); ++cut) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(cut);
    MetricSummary merged = summary_of({values.begin(), middle});
    merged.merge(summary_of({middle, values.end()}, static_cast<std::int64_t>(cut) + 1));
    EXPECT_EQ(merged.count, whole.count);
    EXPECT_NEAR(merged.mean, whole.mean, 1e-6);
    EXPECT_NEAR(merged.deviation(), whole.deviation(), 1e-5);
    EXPECT_EQ(merged.min, whole.min);
    EXPECT_EQ(merged.last, whole.last) << cut;
  }
}

TEST(MetricSummaryTest, WhatIsNotFiniteCountsAndIsTheLast) {
  MetricSummary summary = summary_of({1, 3, std::numeric_limits<double>::infinity(), std::nan("")});
  EXPECT_EQ(summary.count, 4u);
  EXPECT_EQ(summary.finite, 2u);
  EXPECT_EQ(summary.max, 3);
  EXPECT_DOUBLE_EQ(summary.mean, 2);
  EXPECT_TRUE(std::isnan(summary.last));
  MetricSummary nothing = summary_of({std::nan("")});
  summary.merge(nothing);
  EXPECT_EQ(summary.count, 5u);
  EXPECT_EQ(summary.finite, 2u);
  nothing.merge(summary_of({7}));
  EXPECT_EQ(nothing.min, 7);
}

}  // namespace
}  // namespace trainwarden::experiments
