// Measures of rows, against numbers worked out by hand.
#include "judge/rules/builtin/activations/row_measures.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace trainwarden::rules {
namespace {

// `values` must outlive it.
TensorView view_of(const std::vector<float>& values, const Shape& shape) {
  return TensorView::of(values.data(), DType::kFloat32, shape);
}

double entropy(const std::vector<float>& values, const Shape& shape) {
  const auto measure = entropy_share(view_of(values, shape));
  return measure.ok() ? measure->value : NAN;
}

TEST(EntropyShare, BetweenAllAlikeAndOne) {
  EXPECT_DOUBLE_EQ(entropy({.25F, .25F, .25F, .25F, .25F, .25F, .25F, .25F}, {2, 4}), 1);
  EXPECT_DOUBLE_EQ(entropy({1, 0, 0, 0, 0, 1, 0, 0}, {2, 4}), 0);
  EXPECT_DOUBLE_EQ(entropy({.5F, .5F, 0, 0, 0, 0, .5F, .5F}, {2, 4}), 0.5);
  EXPECT_DOUBLE_EQ(entropy({2, 2, 0, 0, 0, 0, 2, 2}, {2, 4}), 0.5);  // scaled by dropout
}

TEST(EntropyShare, HiddenKeysDoNotCount) {
  EXPECT_DOUBLE_EQ(entropy({.5F, .5F, 0, 0, .5F, .5F, 0, 0}, {2, 4}), 1);
  const std::vector<float> causal = {1, 0, 0, .5F, .5F, 0, .25F, .25F, .5F};
  const auto measure = entropy_share(view_of(causal, {3, 3}));
  ASSERT_TRUE(measure.ok());
  EXPECT_EQ(measure->rows, 2);  // the first query sees one key only
  EXPECT_NEAR(measure->value, (1 + 1.5 * std::log(2) / std::log(3)) / 2, 1e-7);
}

TEST(EntropyShare, AllAtOneKeyIsACollapseAndNoMask) {
  EXPECT_DOUBLE_EQ(entropy({0, 1, 0, 0, 0, 1, 0, 0}, {2, 4}), 0);
  const std::vector<float> two_heads = {0, 1, 0, 1, .5F, .5F, .5F, .5F};
  const auto measure = entropy_share(view_of(two_heads, {1, 2, 2, 2}));
  ASSERT_TRUE(measure.ok());
  EXPECT_EQ(measure->rows, 4);
  EXPECT_DOUBLE_EQ(measure->value, 0.5);
}

TEST(EntropyShare, WhatIsNoAttention) {
  EXPECT_EQ(entropy_share(view_of({1, 2}, {2})).status().code(), Code::kOutOfRange);
  EXPECT_EQ(entropy_share(view_of({-1, 2}, {1, 2})).status().code(), Code::kOutOfRange);
  EXPECT_EQ(entropy_share(view_of({NAN, 1}, {1, 2})).status().code(), Code::kOutOfRange);
  EXPECT_EQ(entropy_share(view_of({0, 0}, {1, 2})).status().code(), Code::kOutOfRange);
  EXPECT_EQ(entropy_share(view_of({1, 1}, {2, 1})).status().code(), Code::kOutOfRange);
  EXPECT_EQ(entropy_share(view_of({}, {0, 4})).status().code(), Code::kOutOfRange);
}

TEST(EntropyShare, LargeTensorsAreSampledEvenly) {
  // Three matrices of more than half a million elements each: one alone is looked at.
  std::vector<float> values(3 * 800 * 800, 0.5F);
  const auto measure = entropy_share(view_of(values, {3, 800, 800}));
  ASSERT_TRUE(measure.ok());
  EXPECT_EQ(measure->rows, 800);
  EXPECT_NEAR(measure->value, 1, 1e-9);
}

TEST(MeanCosine, OfKnownRows) {
  const auto cosine = [](const std::vector<float>& values, const Shape& shape) {
    const auto measure = mean_cosine(view_of(values, shape));
    return measure.ok() ? measure->value : NAN;
  };
  EXPECT_NEAR(cosine({1, 2, 2, 4, 3, 6}, {3, 2}), 1, 1e-12);
  EXPECT_NEAR(cosine({1, 0, 0, 1}, {2, 2}), 0, 1e-12);
  EXPECT_NEAR(cosine({1, 0, -3, 0}, {2, 2}), -1, 1e-12);
  EXPECT_NEAR(cosine({1, 0, 1, 0, 0, 1, 0, 0}, {4, 1, 2}), 1.0 / 3, 1e-12);  // the row of zeros is left out
  EXPECT_TRUE(std::isnan(cosine({1, 2}, {1, 2})));
  EXPECT_TRUE(std::isnan(cosine({1, NAN, 1, 1}, {2, 2})));
  EXPECT_TRUE(std::isnan(cosine({1, 2}, {2})));
}

TEST(MeanCosine, AtMost256RowsAreTaken) {
  const std::vector<float> values(1000 * 3, 1);
  EXPECT_EQ(mean_cosine(view_of(values, {1000, 3}))->rows, 256);
}

TEST(TopShare, OfTheMostFrequentChoice) {
  const std::vector<float> scores = {1, 2, 0, 0, 5, 1, 3, 0, 1, 0, 1, 0};
  const auto top = top_share(view_of(scores, {2, 2, 3}));
  ASSERT_TRUE(top.ok());
  EXPECT_EQ(top->choice, 1);
  EXPECT_EQ(top->share, 0.75);
  EXPECT_EQ(top->rows, 4);
  EXPECT_FALSE(top_share(view_of({1, 2}, {2, 1})).ok());
  EXPECT_FALSE(top_share(view_of({1, NAN}, {1, 2})).ok());
}

}  // namespace
}  // namespace trainwarden::rules
