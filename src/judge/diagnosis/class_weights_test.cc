#include <utility>

#include <gtest/gtest.h>

#include "judge/diagnosis/diagnosis_testing.h"

namespace trainwarden::diagnosis {
namespace {

TEST(ClassWeights, AreTurnedAround) {
  const auto confidence = [](Values counts, Values weights) {
    TrainingUnderTest training;
    training.has_labels = false;
    training.numbers = {{"labels", std::move(counts)}, {"class_weights", std::move(weights)}};
    return confidence_of(training.diagnosis(), "class_imbalance");
  };
  EXPECT_GT(confidence({80, 15, 5}, {0.8, 0.15, 0.05}), 0.8);
  EXPECT_EQ(confidence({80, 15, 5}, {0.05, 0.25, 0.7}), 0);
  EXPECT_EQ(confidence({80, 15, 5}, {1, 1, 1}), 0);
  EXPECT_EQ(confidence({40, 35, 25}, {0.8, 0.15, 0.05}), 0) << "classes that are nearly even";
  EXPECT_EQ(confidence({80, 0, 0}, {0.8, 0.15, 0.05}), 0);
  EXPECT_EQ(confidence({80, 15}, {0.8, 0.15, 0.05}), 0);
}

TEST(ClassWeights, AreNotWhyATrainingDiverges) {
  const auto cause = [](double loss_at_end) {
    TrainingUnderTest training;
    training.has_labels = false;
    training.update = 1;
    training.loss_at_end = loss_at_end;
    training.numbers = {{"labels", {80, 15, 5}}, {"class_weights", {0.8, 0.15, 0.05}}, {"top_share", {1}}};
    return first_cause(training.diagnosis());
  };
  EXPECT_EQ(cause(0.1), "class_imbalance");
  EXPECT_EQ(cause(1e9), "learning_rate_too_high");
}

TEST(ClassWeights, OfPositivesAreTurnedAround) {
  const auto confidence = [](double ones, double weight) {
    TrainingUnderTest training;
    training.has_labels = false;
    training.compared = R"({"function":"binary_cross_entropy_with_logits","predicted":[16,1],"target":[16,1],)"
                        R"("predicted_dtype":"float32","target_dtype":"float32"})";
    training.numbers = {{"target_mean", {ones}}, {"target_square", {ones}}, {"positive_weight", {weight}}};
    return confidence_of(training.diagnosis(), "class_imbalance");
  };
  EXPECT_GT(confidence(0.1, 0.11), 0.8);
  EXPECT_GT(confidence(0.9, 9), 0.8);
  EXPECT_LT(confidence(0.1, 9), 0.8);
  EXPECT_LT(confidence(0.1, 1), 0.8);
  EXPECT_LT(confidence(0.9, 0.11), 0.8);
}

}  // namespace
}  // namespace trainwarden::diagnosis
