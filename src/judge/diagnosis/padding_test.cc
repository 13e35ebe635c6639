#include <cmath>

#include <gtest/gtest.h>

#include "judge/diagnosis/diagnosis_testing.h"

namespace trainwarden::diagnosis {
namespace {

TEST(Padding, InTheLossIsToldByTheLossItself) {
  TrainingUnderTest training;
  training.plain_share = 1;
  training.numbers = {{"padding", {0.3, 0.1, 5}}};  // the loss is that with padding
  EXPECT_EQ(first_cause(training.diagnosis()), "padding_in_loss");
  training.plain_share = 0.7;  // it is something else
  EXPECT_EQ(first_cause(training.diagnosis()), "");
}

// The first loss says nothing of the padding in the targets of the second one.
TEST(Padding, InASecondLossIsToldByThatOne) {
  TrainingUnderTest training;
  training.plain_share = 1;
  training.places = R"(,"loss":"train.py:3","loss1":"train.py:4")";
  const auto diagnosed = [&](double compared, double plain, double without) {
    training.numbers = {{"padding1", {0.3, 0.1, without}}, {"compared_loss1", {compared}}, {"plain_loss1", {plain}}};
    return training.diagnosis();
  };
  const Diagnosis counted = diagnosed(2, 2, 3);
  ASSERT_EQ(first_cause(counted), "padding_in_loss");
  EXPECT_EQ(counted.first()->place, "train.py:4");
  EXPECT_EQ(first_cause(diagnosed(3, 3, 3)), "");  // it was left out
  EXPECT_EQ(first_cause(diagnosed(3, 2, 3)), "");
  EXPECT_EQ(first_cause(diagnosed(std::nan(""), 2, 3)), "");  // one number for each element: the program weights them
}

}  // namespace
}  // namespace trainwarden::diagnosis
