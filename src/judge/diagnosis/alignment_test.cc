#include <gtest/gtest.h>

#include "judge/diagnosis/diagnosis_testing.h"

namespace trainwarden::diagnosis {
namespace {

std::string cause_of(const char* name, Values values) {
  TrainingUnderTest training;
  training.numbers = {{name, std::move(values)}};
  return first_cause(training.diagnosis());
}

TEST(Alignment, SamplesInAnotherOrderThanTheirTargets) {
  EXPECT_EQ(cause_of("reordered", {1, 0}), "labels_misaligned");
  EXPECT_EQ(cause_of("reordered", {0, 1}), "labels_misaligned");
  EXPECT_EQ(cause_of("reordered", {0, 0}), "");
  EXPECT_EQ(cause_of("reordered", {1, 1}), "");  // both alike
}

TEST(Alignment, LengthsThatAreThoseOfOtherSequences) {
  EXPECT_EQ(cause_of("lengths", {0.8, 1}), "labels_misaligned");
  EXPECT_EQ(cause_of("lengths", {0.8, 0}), "");  // answers of their own length
  EXPECT_EQ(cause_of("lengths", {0.1, 1}), "");
}

}  // namespace
}  // namespace trainwarden::diagnosis
