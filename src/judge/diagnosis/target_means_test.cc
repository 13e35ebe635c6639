// Features that are made of the targets, and those that only say much of them.
#include <gtest/gtest.h>

#include "judge/diagnosis/diagnosis_testing.h"

namespace trainwarden::diagnosis {
namespace {

double leak_of(const std::string& name, const Values& measured) {
  TrainingUnderTest training;
  training.numbers = {{name, measured}};
  TrainingHistory history;
  training.add_to(history);
  return confidence_of(diagnose(history), "target_leak");
}

TEST(TargetMeans, TargetsThatBalanceAroundAFeature) {
  EXPECT_GT(leak_of("target_balance", {8, -0.32, 6.1, 358}), 0.8);
  EXPECT_EQ(leak_of("target_balance", {8, -0.32, 3.6, 127}), 0);    // chance
  EXPECT_EQ(leak_of("target_balance", {8, -0.01, 6.1, 90000}), 0);  // of large groups, in which one answer is lost
  EXPECT_EQ(leak_of("target_balance", {8, 0.32, -6.1, 358}), 0);    // samples of a group are alike
}

TEST(TargetMeans, ValuesThatAreTheSharesOfTargets) {
  EXPECT_GT(leak_of("target_shares", {3, 17, 45, 5.4, -0.4}), 0.8);
  EXPECT_EQ(leak_of("target_shares", {3, 17, 4, 5.4, -0.4}), 0);  // too few at the lowest
  EXPECT_EQ(leak_of("target_shares", {3, 17, 45, 1, -0.4}), 0);   // and at the highest
  EXPECT_EQ(leak_of("target_shares", {3, 17, 45, 5.4, 12}), 0);   // its shares are others
}

TEST(TargetMeans, WhatIsNoMeasurementIsLeftOut) {
  EXPECT_EQ(leak_of("target_balance", {8, -0.32}), 0);
  EXPECT_EQ(leak_of("target_shares", {}), 0);
  EXPECT_EQ(leak_of("target_shares", {3, kUnknown, kUnknown, kUnknown, kUnknown}), 0);
}

}  // namespace
}  // namespace trainwarden::diagnosis
