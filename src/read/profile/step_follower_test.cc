#include "read/profile/step_follower.h"

#include <gtest/gtest.h>

#include "read/trial/run_testing.h"

namespace trainwarden::profile::step_follower_tests {
namespace {

TestStep written(std::int64_t step, float seconds, const std::vector<float>& before) {
  TestStep made{.step = step, .tensors = {scalar("phase/step", seconds)}};
  if (!before.empty()) made.tensors.push_back(kept("trainwarden/step_times", before, {"signals"}));
  return made;
}

std::vector<std::pair<std::int64_t, float>> followed(const TestRun& run) {
  const auto trial = run.open();
  StepFollower follower;
  EXPECT_TRUE(follower.refresh(*trial).ok());
  std::vector<std::pair<std::int64_t, float>> steps;
  for (const StepFollower::Worker& worker : follower.workers()) {
    for (const StepTime& time : worker.steps) steps.emplace_back(time.global_step, time.seconds);
  }
  return steps;
}

using Steps = std::vector<std::pair<std::int64_t, float>>;

TEST(StepFollower, StepsThatWereNotWrittenAreKnownByTheListBehindThem) {
  TestRun run;
  run.add(written(0, 1, {}));
  run.add(written(4, 5, {1, 2, 3, 4}));
  run.add(written(5, 6, {5}));
  run.add(written(7, 8, {6, 7}));
  const Steps expected = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}, {7, 8}};
  EXPECT_EQ(followed(run), expected);
}

// A list has room for the newest only, and a run may have begun before it was watched.
TEST(StepFollower, AListThatDoesNotReachBackIsThatOfTheNewest) {
  TestRun run;
  run.add(written(3, 1, {7, 8}));
  run.add(written(9, 1, {5, 6}));
  const Steps expected = {{1, 7}, {2, 8}, {3, 1}, {7, 5}, {8, 6}, {9, 1}};
  EXPECT_EQ(followed(run), expected);
}

// Two steps of evaluation lie between: they have numbers, and are not in the list.
TEST(StepFollower, StepsOfOtherModesAreNoTrainSteps) {
  TestRun run;
  run.add(written(10, 1.5, {}));
  run.add(written(15, 1, {1.5, 2, 3}));
  const Steps expected = {{10, 1.5}, {11, 2}, {12, 3}, {15, 1}};
  EXPECT_EQ(followed(run), expected);
}

TEST(StepFollower, TimesOfStepsEndWhereTheNextBegan) {
  TestRun run;
  run.clock().advance_ns(10'000'000'000);
  run.add(written(0, 1, {}));
  run.clock().advance_ns(6'000'000'000);
  run.add(written(3, 3, {1, 1, 2}));
  const auto trial = run.open();
  StepFollower follower;
  ASSERT_TRUE(follower.refresh(*trial).ok());
  const auto& steps = follower.workers().at(0).steps;
  ASSERT_EQ(steps.size(), 4U);
  EXPECT_EQ(steps[2].end_unix_ns, steps[3].end_unix_ns - 3'000'000'000);
  EXPECT_EQ(steps[1].end_unix_ns, steps[3].end_unix_ns - 5'000'000'000);
}

TEST(StepFollower, TimesThatAreNoneAreLeftOut) {
  TestRun run;
  run.add(written(0, 1, {}));
  run.add(written(4, 1, {1, -2, 3, 4}));
  const Steps expected = {{0, 1}, {2, 3}, {3, 4}, {4, 1}};
  EXPECT_EQ(followed(run), expected);
}

}  // namespace
}  // namespace trainwarden::profile::step_follower_tests
