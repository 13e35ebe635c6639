// What the time of a step was spent on, by a clock of the test's own.
#include "step_phases.h"

#include <gtest/gtest.h>

#include <numeric>

namespace trainwarden::torch {
namespace {

using std::chrono::nanoseconds;

StepPhases::Time at(int ns) {
  return StepPhases::Time(nanoseconds(ns));
}

int spent(const StepPhases::Spent& spent, Phase phase) {
  return static_cast<int>(spent[static_cast<std::size_t>(phase)].count());
}

int sum(const StepPhases::Spent& spent) {
  return static_cast<int>(std::accumulate(spent.begin(), spent.end(), nanoseconds(0)).count());
}

TEST(StepPhases, TheInnermostGetsTheTime) {
  StepPhases phases(at(100));
  phases.begin(Phase::kOptimizer, at(101));
  phases.begin(Phase::kBackward, at(103));  // in its closure
  phases.end(Phase::kBackward, at(106));
  phases.end(Phase::kOptimizer, at(110));
  const StepPhases::Spent of_step = phases.take(at(115));
  EXPECT_EQ(spent(of_step, Phase::kRest), 6);
  EXPECT_EQ(spent(of_step, Phase::kOptimizer), 6);
  EXPECT_EQ(spent(of_step, Phase::kBackward), 3);
  EXPECT_EQ(sum(of_step), 15);
  EXPECT_EQ(sum(phases.take(at(117))), 2);
}

TEST(StepPhases, OurOwnWorkIsNobodyElses) {
  StepPhases phases(at(0));
  phases.capture_begins(at(1));
  phases.begin(Phase::kBackward, at(2));
  phases.capture_ends(at(4));
  const StepPhases::Spent of_step = phases.take(at(9));
  EXPECT_EQ(spent(of_step, Phase::kCapture), 3);
  EXPECT_EQ(spent(of_step, Phase::kBackward), 5);
}

TEST(StepPhases, EvaluationIsOnePhase) {
  StepPhases phases(at(0));
  phases.evaluate(true, at(1));
  phases.begin(Phase::kZeroGrad, at(2));
  phases.end(Phase::kZeroGrad, at(3));
  phases.evaluate(false, at(7));
  const StepPhases::Spent of_step = phases.take(at(9));
  EXPECT_EQ(spent(of_step, Phase::kEvaluation), 6);
  EXPECT_EQ(spent(of_step, Phase::kRest), 3);
}

TEST(StepPhases, WhatAnExceptionLeftOpenEndsWithTheStep) {
  StepPhases phases(at(0));
  phases.end(Phase::kBackward, at(1));
  for (int i = 0; i < 1000; ++i) phases.begin(Phase::kBackward, at(2));
  const StepPhases::Spent failed = phases.take(at(5));
  EXPECT_EQ(spent(failed, Phase::kRest), 2);
  EXPECT_EQ(spent(failed, Phase::kBackward), 3);
  EXPECT_EQ(spent(phases.take(at(8)), Phase::kRest), 3);
}

}  // namespace
}  // namespace trainwarden::torch
