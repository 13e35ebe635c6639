// When a step ends with several optimizers.
#include "step_cycle.h"

#include <gtest/gtest.h>

namespace trainwarden::torch {
namespace {

const int kFirst = 1;
const int kSecond = 2;

// One optimizer steps; says whether a step ended before that, or after.
struct Ended {
  bool before = false;
  bool after = false;
  friend bool operator==(const Ended&, const Ended&) = default;
};
Ended step(StepCycle& cycle, const void* optimizer) {
  Ended ended;
  ended.before = cycle.ends_before_step_of(optimizer);
  if (ended.before) cycle.begin_step();
  cycle.has_stepped(optimizer);
  ended.after = cycle.is_complete();
  if (ended.after) cycle.begin_step();
  return ended;
}

constexpr Ended kAfter = {.before = false, .after = true};
constexpr Ended kNot = {};

TEST(StepCycle, OneOptimizerEndsEachStep) {
  StepCycle cycle;
  cycle.add(&kFirst);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(step(cycle, &kFirst), kAfter);
}

TEST(StepCycle, AnOptimizerThatWasNotMetBeforeCounts) {
  StepCycle cycle;
  EXPECT_EQ(step(cycle, &kFirst), kAfter);
}

TEST(StepCycle, OfTwoTheSecondEndsTheStep) {
  StepCycle cycle;
  cycle.add(&kFirst);
  cycle.add(&kSecond);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(step(cycle, &kSecond), kNot);
    EXPECT_EQ(step(cycle, &kFirst), kAfter);
  }
}

TEST(StepCycle, OneThatStepsAgainEndsTheStepBefore) {
  StepCycle cycle;
  cycle.add(&kFirst);
  cycle.add(&kSecond);
  EXPECT_EQ(step(cycle, &kFirst), kNot);
  EXPECT_EQ(step(cycle, &kFirst), (Ended{.before = true, .after = true}));  // the second is no longer waited for
  EXPECT_EQ(step(cycle, &kFirst), kAfter);
}

TEST(StepCycle, OneThatComesBackIsInUseAgain) {
  StepCycle cycle;
  EXPECT_EQ(step(cycle, &kFirst), kAfter);
  EXPECT_EQ(step(cycle, &kSecond), kNot);
  EXPECT_EQ(step(cycle, &kFirst), kAfter);
  EXPECT_EQ(step(cycle, &kSecond), kNot);
  EXPECT_EQ(step(cycle, &kSecond), (Ended{.before = true, .after = true}));
}

TEST(StepCycle, OneThatIsGoneIsNotWaitedFor) {
  StepCycle cycle;
  cycle.add(&kFirst);
  cycle.add(&kSecond);
  EXPECT_EQ(step(cycle, &kFirst), kNot);
  cycle.remove(&kSecond);
  EXPECT_TRUE(cycle.is_complete());
}

TEST(StepCycle, NothingIsCompleteBeforeAnyStep) {
  StepCycle cycle;
  EXPECT_FALSE(cycle.is_complete());
  cycle.add(&kFirst);
  cycle.remove(&kFirst);
  EXPECT_FALSE(cycle.is_complete());
}

}  // namespace
}  // namespace trainwarden::torch
