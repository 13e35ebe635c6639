#include "react/watch/common_step.h"

#include <gtest/gtest.h>

namespace trainwarden::watch {
namespace {

constexpr std::int64_t kPaceSecond = 1'000'000'000;

TEST(CommonStep, IsBeyondWhatEveryWorkerHasReached) {
  const RunPace pace{.newest_step = 100, .newest_unix_ns = 50 * kPaceSecond, .step_ns = kPaceSecond / 10};
  EXPECT_EQ(first_common_step(pace, 50 * kPaceSecond), 112) << "a second of ten steps, and two";
  EXPECT_EQ(first_common_step(pace, 53 * kPaceSecond), 142) << "steps that were not kept went by meanwhile";
  EXPECT_EQ(first_common_step(pace, 40 * kPaceSecond), 112) << "its clock is before ours";
}

TEST(CommonStep, SlowStepsNeedTwo) {
  EXPECT_EQ(first_common_step({.newest_step = 7, .newest_unix_ns = kPaceSecond, .step_ns = 60 * kPaceSecond},
                              2 * kPaceSecond),
            9);
}

TEST(CommonStep, AStandstillIsNotCountedForEver) {
  const RunPace pace{.newest_step = 0, .newest_unix_ns = kPaceSecond, .step_ns = kPaceSecond};
  EXPECT_EQ(first_common_step(pace, 1'000'000 * kPaceSecond), 63);
}

TEST(CommonStep, OfNothingIsNextToTheFirst) {
  EXPECT_EQ(first_common_step({}, 1), 1);
}

}  // namespace
}  // namespace trainwarden::watch
