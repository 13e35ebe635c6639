#include "read/profile/step_phases.h"

#include <gtest/gtest.h>

#include "read/trial/run_testing.h"

namespace trainwarden::profile {
namespace {

using Times = std::vector<std::pair<const char*, float>>;

TestStep divided(std::int64_t step, const Times& times, int worker = 0) {
  TestStep made{.step = step, .worker = worker};
  for (const auto& [name, seconds] : times) made.tensors.push_back(scalar(name, seconds));
  return made;
}

std::vector<WorkerPhases> phases(const TestRun& run) {
  const auto trial = run.open();
  auto found = step_phases(*trial);
  EXPECT_TRUE(found.ok()) << found.status().to_string();
  return std::move(*found);
}

TEST(StepPhases, ShareTheWallTimeOfTheirSteps) {
  TestRun run;
  run.add(divided(1, {{"phase/step", 2}, {"phase/forward", 1}, {"phase/backward", 1}}));
  run.add(divided(2, {{"phase/step", 2}, {"phase/forward", 0.5}, {"phase/backward", 1}, {"phase/rest", 0.5}}));
  const auto found = phases(run);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].worker, "rank-00000");
  EXPECT_EQ(found[0].divided_steps, 2U);
  EXPECT_DOUBLE_EQ(found[0].divided_seconds, 4);
  ASSERT_EQ(found[0].phases.size(), 3U);
  EXPECT_EQ(found[0].phases[0].phase, "backward");
  EXPECT_DOUBLE_EQ(found[0].phases[0].share, 0.5);
  EXPECT_EQ(found[0].phases[2].phase, "rest");
  EXPECT_DOUBLE_EQ(found[0].phases[2].share, 0.125);
}

TEST(StepPhases, TheFirstStepIsNoPart) {
  TestRun run;
  run.add(divided(0, {{"phase/start", 100}, {"phase/forward", 90}}));
  EXPECT_TRUE(phases(run).empty());
  run.add(divided(1, {{"phase/step", 1}, {"phase/forward", 1}}));
  const auto found = phases(run);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_DOUBLE_EQ(found[0].phases[0].seconds, 1);
}

// Of ten steps one was divided, and no evaluation fell into it: the totals say that it took half of the time.
TEST(StepPhases, WhatIsTotalledIsExactOverAllSteps) {
  TestRun run;
  run.add(divided(9, {{"phase/step", 1},
                      {"phase/forward", 0.75},
                      {"phase/backward", 0.25},
                      {"phase_total/steps", 10},
                      {"phase_total/wall", 20},
                      {"phase_total/evaluation", 10}}));
  const auto found = phases(run);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_DOUBLE_EQ(found[0].steps, 10);
  EXPECT_DOUBLE_EQ(found[0].seconds, 20);
  ASSERT_EQ(found[0].phases.size(), 3U);
  EXPECT_EQ(found[0].phases[0].phase, "evaluation");
  EXPECT_DOUBLE_EQ(found[0].phases[0].share, 0.5);
  EXPECT_DOUBLE_EQ(found[0].phases[1].share, 0.375) << "forward: three quarters of the rest";
  EXPECT_DOUBLE_EQ(found[0].phases[2].share, 0.125);
}

TEST(StepPhases, EachWorkerHasItsOwn) {
  TestRun run(2);
  run.add(divided(1, {{"phase/step", 1}, {"phase/forward", 1}}, 0));
  run.add(divided(1, {{"phase/step", 1}, {"phase/data_wait", 1}}, 1));
  const auto found = phases(run);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].phases[0].phase, "forward");
  EXPECT_EQ(found[1].worker, "rank-00001");
  EXPECT_EQ(found[1].phases[0].phase, "data_wait");
}

TEST(StepPhases, WithoutPhasesThereIsNothing) {
  TestRun run;
  run.add(divided(1, {{"loss", 1}}));
  EXPECT_TRUE(phases(run).empty());
}

}  // namespace
}  // namespace trainwarden::profile
