#include "judge/rules/builtin/data/class_labels.h"

#include <cmath>

#include <gtest/gtest.h>

namespace trainwarden::rules {
namespace {

TensorView floats(const std::vector<float>& values, const Shape& shape) {
  return TensorView::of(values.data(), DType::kFloat32, shape);
}

Classes predicted(const std::vector<float>& scores, const Shape& scores_shape, const std::vector<float>& labels,
                  const Shape& labels_shape, bool argmax = false) {
  const auto classes = predicted_classes(floats(scores, scores_shape), floats(labels, labels_shape), argmax);
  EXPECT_TRUE(classes.ok()) << classes.status().to_string();
  return classes.ok() ? *classes : Classes();
}

TEST(ClassLabels, WholeNumbersOfAnyTypeAreClasses) {
  EXPECT_EQ(*label_classes(floats({2, 0, -100}, {3})), (Classes{2, 0, -100}));
  const std::vector<std::uint8_t> bytes = {7, 255};
  EXPECT_EQ(*label_classes(TensorView::of(bytes.data(), DType::kUInt8, {2})), (Classes{7, 255}));
  const bool truth[] = {true, false};
  EXPECT_EQ(*label_classes(TensorView::of(truth, DType::kBool, {2})), (Classes{1, 0}));
  EXPECT_EQ(label_classes(floats({0.5F}, {1})).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(label_classes(floats({INFINITY}, {1})).status().code(), Code::kInvalidArgument);
}

TEST(ClassLabels, DistributionsStandForTheirHighest) {
  EXPECT_EQ(*label_classes(floats({0.1F, 0.9F, 0.6F, 0.4F}, {2, 2})), (Classes{1, 0}));
  EXPECT_EQ(label_classes(floats({0.1F, 0.8F, 0.6F, 0.4F}, {2, 2})).ok(), false);  // does not sum to 1
}

TEST(ClassLabels, TheHighestScoreIsPredicted) {
  EXPECT_EQ(predicted({1, 5, 3, 9, 2, 1}, {2, 3}, {0, 0}, {2}), (Classes{1, 0}));
  EXPECT_EQ(predicted({NAN, 5, 3, 9, NAN, 1}, {2, 3}, {0, 0}, {2}), (Classes{1, 0}));
  EXPECT_EQ(predicted({1, 5, 3, 9}, {2, 2}, {0, 1, 1, 0}, {2, 2}, true), (Classes{1, 1}));
}

TEST(ClassLabels, OfImagesTheScoresAreDimensionOne) {
  // Two classes of one image with 1 × 3 pixels.
  EXPECT_EQ(predicted({1, 2, 3, 3, 1, 4}, {1, 2, 1, 3}, {0, 0, 0}, {1, 1, 3}), (Classes{1, 0, 1}));
}

TEST(ClassLabels, OneScoreForEachLabelThatIsZeroOrOne) {
  EXPECT_EQ(predicted({0.2F, 0.8F}, {2}, {0, 1}, {2}), (Classes{0, 1}));      // probabilities
  EXPECT_EQ(predicted({-0.2F, 0.3F}, {2, 1}, {0, 1}, {2}), (Classes{0, 1}));  // logits
  const std::vector<float> scores = {0.2F, 0.8F};
  const std::vector<float> labels = {0, 2};
  EXPECT_FALSE(predicted_classes(floats(scores, {2}), floats(labels, {2}), false).ok());
}

TEST(ClassLabels, DistributionsAreComparedWithScoresOfTheirShape) {
  EXPECT_EQ(predicted({1, 5, 9, 2}, {2, 2}, {0, 1, 0, 1}, {2, 2}), (Classes{1, 0}));
}

TEST(ClassLabels, PredictionsThatDoNotFitAreRefused) {
  const std::vector<float> scores(6);
  const std::vector<float> labels(4);
  const auto classes = predicted_classes(floats(scores, {2, 3}), floats(labels, {4}), false);
  EXPECT_NE(classes.status().message().find("[2, 3]"), std::string::npos);
}

}  // namespace
}  // namespace trainwarden::rules
