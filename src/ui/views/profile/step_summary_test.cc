#include "ui/views/profile/step_summary.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "read/trial/run_testing.h"

namespace trainwarden::views {
namespace {

using Phases = std::vector<std::pair<const char*, double>>;

void add_divided(TestRun& run, std::int64_t step, const Phases& phases, int worker = 0) {
  TestStep made{.step = step, .mode = Mode::kTrain, .worker = worker};
  for (const auto& [name, seconds] : phases) made.tensors.push_back(scalar(name, static_cast<float>(seconds)));
  run.add(made);
}

profile::StepFollower follow(Trial& trial) {
  profile::StepFollower follower;
  EXPECT_TRUE(follower.refresh(trial).ok());
  return follower;
}

TEST(StepSummary, ALongStepIsExplainedByThePhaseThatGrew) {
  TestRun run;
  for (std::int64_t step = 1; step <= 40; ++step) {
    const bool saves = step == 30;
    add_divided(run, step,
                {{"phase/step", saves ? 1.1 : 0.1}, {"phase/forward", 0.1}, {"phase/checkpoint", saves ? 1.0 : 0.0}});
  }
  const auto trial = run.open();
  const ProfiledSteps steps = summarise_steps(*trial, follow(*trial));
  EXPECT_EQ(steps.count, 40U);
  EXPECT_EQ(steps.divided, 40U);
  ASSERT_TRUE(steps.duration_ms);
  EXPECT_NEAR(steps.duration_ms->p50, 100, 0.1);
  EXPECT_NEAR(steps.duration_ms->max, 1100, 0.1);
  ASSERT_EQ(steps.outliers.size(), 1U);
  EXPECT_EQ(steps.outliers[0].step, 30);
  EXPECT_EQ(steps.outliers[0].phase, "checkpoint");
  EXPECT_EQ(steps.outliers[0].cause, "checkpoint");
  EXPECT_NEAR(steps.outliers[0].phase_ms, 1000, 0.1);
  ASSERT_TRUE(steps.histogram);
  EXPECT_EQ(steps.histogram->edges_ms.size(), steps.histogram->counts.size() + 1);
  std::uint64_t all = 0;
  for (const std::uint64_t count : steps.histogram->counts) all += count;
  EXPECT_EQ(all, 40U);
}

TEST(StepSummary, StepsOfTheSameLengthHaveNoOutlier) {
  TestRun run;
  for (std::int64_t step = 1; step <= 40; ++step) add_divided(run, step, {{"phase/step", 0.1}, {"phase/forward", 0.1}});
  const auto trial = run.open();
  const ProfiledSteps steps = summarise_steps(*trial, follow(*trial));
  EXPECT_TRUE(steps.outliers.empty());
  EXPECT_EQ(steps.outlier_count, 0U);
}

// All wait for the slow one, so that their steps are as long as its own.
TEST(StepSummary, TheSlowWorkerHasTheSkew) {
  TestRun run(3);
  for (std::int64_t step = 1; step <= 30; ++step) {
    for (int worker = 0; worker < 3; ++worker) {
      const double waits = worker == 1 ? 0 : 0.1;
      add_divided(run, step, {{"phase/step", 0.2}, {"phase/forward", 0.2 - waits}, {"phase/gradient_sync", waits}},
                  worker);
    }
  }
  const auto trial = run.open();
  const auto workers = summarise_workers(follow(*trial), "node7");
  ASSERT_EQ(workers.size(), 3U);
  EXPECT_NEAR(workers[0].skew, 1, 1e-3);
  EXPECT_NEAR(workers[1].skew, 2, 1e-3);
  EXPECT_NEAR(workers[1].median_ms, 200, 0.1);
  EXPECT_EQ(workers[0].phases.size(), 2U);
}

TEST(StepSummary, WithoutPhasesTheEndsOfStepsThatFollowOnEachOtherSayHowLongTheyTook) {
  TestRun run;
  for (std::int64_t step = 0; step < 5; ++step) {
    run.add_steps(step, step);
    run.clock().advance_ns(50'000'000);
  }
  const auto trial = run.open();
  const profile::StepFollower follower = follow(*trial);
  ASSERT_EQ(follower.workers().size(), 1U);
  ASSERT_EQ(follower.workers()[0].steps.size(), 4U) << "when the first one began is not known";
  EXPECT_NEAR(follower.workers()[0].steps[0].seconds, 0.05, 0.01);
}

TEST(StepSummary, TimesThatAreNoTimesAreLeftOut) {
  TestRun run;
  const double bad[] = {std::numeric_limits<double>::quiet_NaN(), -1, 1e30, std::numeric_limits<double>::infinity(), 0};
  std::int64_t step = 0;
  for (const double seconds : bad) add_divided(run, step++, {{"phase/step", seconds}, {"phase/forward", seconds}});
  add_divided(run, step, {{"phase/step", 0.5}, {"phase/forward", std::numeric_limits<double>::quiet_NaN()}});
  const auto trial = run.open();
  const ProfiledSteps steps = summarise_steps(*trial, follow(*trial));
  ASSERT_TRUE(steps.duration_ms);
  EXPECT_NEAR(steps.duration_ms->max, 500, 1e-3);
  EXPECT_NEAR(steps.duration_ms->min, 500, 1e-3);
}

TEST(StepSummary, AGrowingRunIsReadOn) {
  TestRun run;
  add_divided(run, 1, {{"phase/step", 1}, {"phase/forward", 1}});
  const auto trial = run.open();
  profile::StepFollower follower;
  std::size_t given = 0;
  const auto count = [&](const profile::FollowedStep&) { ++given; };
  ASSERT_TRUE(follower.refresh(*trial, 1'000, count).ok());
  add_divided(run, 2, {{"phase/step", 3}, {"phase/data_wait", 3}});
  ASSERT_TRUE(trial->refresh().ok());
  ASSERT_TRUE(follower.refresh(*trial, 1'000, count).ok());
  ASSERT_TRUE(follower.refresh(*trial, 1'000, count).ok());
  EXPECT_EQ(given, 2U) << "each once";
  ASSERT_EQ(follower.phases().size(), 1U);
  EXPECT_EQ(follower.phases()[0].phases[0].phase, "data_wait");
  EXPECT_DOUBLE_EQ(follower.phases()[0].phases[0].share, 0.75);
}

}  // namespace
}  // namespace trainwarden::views
