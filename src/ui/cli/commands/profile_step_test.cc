#include "ui/cli/commands/profile_step.h"

#include <gtest/gtest.h>

namespace trainwarden::cli {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(ProfileStep, IsBeyondWhatEveryWorkerHasReached) {
  const RunPace pace{.newest_step = 100, .newest_unix_ns = 50 * kSecond, .step_ns = kSecond / 10};
  EXPECT_EQ(first_common_step(pace, 50 * kSecond), 112) << "a second of ten steps, and two";
  EXPECT_EQ(first_common_step(pace, 53 * kSecond), 142) << "steps that were not kept went by meanwhile";
  EXPECT_EQ(first_common_step(pace, 40 * kSecond), 112) << "its clock is before ours";
}

TEST(ProfileStep, SlowStepsNeedTwo) {
  EXPECT_EQ(first_common_step({.newest_step = 7, .newest_unix_ns = kSecond, .step_ns = 60 * kSecond}, 2 * kSecond), 9);
}

TEST(ProfileStep, AStandstillIsNotCountedForEver) {
  const RunPace pace{.newest_step = 0, .newest_unix_ns = kSecond, .step_ns = kSecond};
  EXPECT_EQ(first_common_step(pace, 1'000'000 * kSecond), 63);
}

TEST(ProfileStep, OfNothingIsNextToTheFirst) {
  EXPECT_EQ(first_common_step({}, 1), 1);
}

}  // namespace
}  // namespace trainwarden::cli
