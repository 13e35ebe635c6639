// Contrastive trainings: both sides of each detector.
#include <gtest/gtest.h>

#include "judge/diagnosis/diagnosis_testing.h"

namespace trainwarden::diagnosis {
namespace {

// A batch of 16 against another one, with these largest similarities at even and at odd examinations.
std::string cause_of_views(double accuracy, double largest, double other_largest) {
  TrainingUnderTest training;
  training.compared = R"({"function":"cross_entropy","predicted":[16,16],"target":[16],)"
                      R"("predicted_dtype":"float32","target_dtype":"int64"})";
  training.has_labels = false;
  training.steps = 20;
  TrainingHistory history;
  for (int i = 0; i < 6; ++i) {
    training.numbers = {{"labels", Values(16, 1)},
                        {"accuracy", {accuracy}},
                        {"predicted", {2, 1, -3, i % 2 == 0 ? largest : other_largest, 0, 0}}};
    training.add_to(history);
  }
  return first_cause(diagnose(history));
}

TEST(Pairs, TwoViewsThatAreTheSame) {
  EXPECT_EQ(cause_of_views(1, 5, 5), "random_state_repeated");
  EXPECT_NE(cause_of_views(1, 4.8, 4.7), "random_state_repeated");  // much alike
  EXPECT_NE(cause_of_views(0.8, 5, 5), "random_state_repeated");
}

}  // namespace
}  // namespace trainwarden::diagnosis
