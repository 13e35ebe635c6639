#include "ui/views/attention/head_metrics.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace trainwarden::views::attention {
namespace {

enum Metric : std::size_t { kEntropy, kDistance, kSink, kSeparators, kDiagonal, kPrevious, kDrift, kNanRows };

using Rows = std::vector<std::vector<float>>;

HeadMetrics measure(const RowPlaces& places, const Rows& rows, const Rows& first = {}) {
  HeadMeter meter(places);
  for (std::size_t query = 0; query < rows.size(); ++query) {
    meter.add(static_cast<std::int64_t>(query), rows[query], first.empty() ? std::vector<float>() : first[query]);
  }
  return meter.metrics();
}

TokenLabels labels(std::vector<std::string> texts) {
  return {std::move(texts), {}};
}

TEST(HeadMeter, CountsByHand) {
  const RowPlaces places = places_of(2, 2, false, labels({"[CLS]", "a"}), labels({"[CLS]", "a"}));
  const HeadMetrics metrics = measure(places, {{0.5F, 0.5F}, {1, 0}});
  EXPECT_NEAR(metrics[kEntropy], std::log(2.0) / 2, 1e-6);
  EXPECT_NEAR(metrics[kDistance], (0.5 + 1) / 2, 1e-6);
  EXPECT_NEAR(metrics[kSink], 0.75, 1e-6);
  EXPECT_NEAR(metrics[kSeparators], 0.75, 1e-6);
  EXPECT_NEAR(metrics[kDiagonal], 0.25, 1e-6);
  EXPECT_NEAR(metrics[kPrevious], 1, 1e-6);
  EXPECT_TRUE(std::isnan(metrics[kDrift]));
  EXPECT_EQ(metrics[kNanRows], 0);
}

TEST(HeadMeter, DriftIsZeroForTheSameAndLnTwoForTheOpposite) {
  const RowPlaces places = places_of(1, 2, true, {}, {});
  EXPECT_NEAR(measure(places, {{0.3F, 0.7F}}, {{0.3F, 0.7F}})[kDrift], 0, 1e-7);
  EXPECT_NEAR(measure(places, {{1, 0}}, {{0, 1}})[kDrift], std::log(2.0), 1e-6);
}

TEST(HeadMeter, ScalesRowsThatADropoutStretched) {
  const RowPlaces places = places_of(1, 1, false, {}, {});
  EXPECT_NEAR(measure(places, {{1.1F}})[kSink], 1, 1e-6);
}

TEST(HeadMeter, LeavesOutPaddingAndEmptyRowsAndCountsThoseWithNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const RowPlaces places = places_of(4, 4, false, labels({"a", "b", "c", "[PAD]"}), labels({"a", "b", "c", "[PAD]"}));
  const HeadMetrics metrics = measure(places, {{0, 1, 0, 0}, {0, 0, 0, 0}, {nan, 0, 0, 0}, {1, 0, 0, 0}});
  EXPECT_EQ(metrics[kSink], 0);
  EXPECT_EQ(metrics[kDistance], 1);
  EXPECT_EQ(metrics[kNanRows], 1);
}

TEST(HeadMeter, KnowsNoDistanceBetweenDifferentTexts) {
  const HeadMetrics cross = measure(places_of(1, 3, false, {}, {}), {{1, 0, 0}});
  EXPECT_TRUE(std::isnan(cross[kDistance]));
  EXPECT_TRUE(std::isnan(cross[kDiagonal]));
  EXPECT_TRUE(std::isnan(cross[kPrevious]));
  EXPECT_TRUE(std::isnan(cross[kSeparators]));
  EXPECT_EQ(cross[kSink], 1);
  const HeadMetrics goes_on = measure(places_of(1, 3, true, {}, {}), {{1, 0, 0}});  // the last of three tokens
  EXPECT_EQ(goes_on[kDistance], 2);
}

TEST(HeadMeter, OfNoRowsIsNotANumber) {
  const HeadMetrics metrics = measure(places_of(1, 1, false, {}, {}), {});
  for (std::size_t i = 0; i < kNanRows; ++i) EXPECT_TRUE(std::isnan(metrics[i])) << kMetricNames[i];
}

}  // namespace
}  // namespace trainwarden::views::attention
