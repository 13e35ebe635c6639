#include "ui/views/profile/read_profile.h"

#include <cmath>

#include <gtest/gtest.h>

#include "read/trial/run_testing.h"
#include "ui/views/profile/compare_profiles.h"

namespace trainwarden::views {
namespace {

constexpr std::int64_t kProfileSecond = 1'000'000'000;

Metric host(const std::string& name, MetricKind kind = MetricKind::kCounter) {
  return {name, "", kind, MetricSource::kHost, "node7"};
}

std::shared_ptr<OpenRun> open(const TestRun& run) {
  return std::make_shared<OpenRun>("first", run.open());
}

ProfileReport profile_of(OpenRun& run) {
  const auto use = run.use(std::chrono::milliseconds(0));
  EXPECT_TRUE(use.ok());
  auto report = read_profile(*use);
  EXPECT_TRUE(report.ok()) << report.status().to_string();
  return report.ok() ? *std::move(report) : ProfileReport();
}

void sample_processors(TestRun& run, const std::vector<double>& busy, int machine = TestRun::kMachine) {
  const std::vector<double> on(busy.size(), 4);
  run.sample_together({{host("cpu.busy"), busy}, {host("cpu.online", MetricKind::kGauge), on}}, kProfileSecond,
                      machine);
}

TEST(ReadProfile, AnEmptyRunSaysThatThereIsNotEnoughData) {
  TestRun run;
  run.start(0);
  const ProfileReport report = profile_of(*open(run));
  EXPECT_EQ(report.verdict.kind, ProfileVerdict::Kind::kNotEnoughData);
  EXPECT_FALSE(report.steps.duration_ms);
  EXPECT_TRUE(report.usage.empty());
  EXPECT_FALSE(report.operators);
  EXPECT_EQ(report.timeline.buckets, 600U);
}

TEST(ReadProfile, MachineAndPhasesLieOnOneAxis) {
  TestRun run;
  for (std::int64_t step = 1; step <= 4; ++step) {
    run.clock().advance_ns(kProfileSecond);
    run.add({.step = step, .tensors = {scalar("phase/step", 1), scalar("phase/forward", 1)}, .mode = Mode::kTrain});
  }
  sample_processors(run, {100, 102, 104});
  const ProfileReport report = profile_of(*open(run));
  ASSERT_EQ(report.usage.size(), 1U);
  EXPECT_EQ(report.usage[0].kind, "cpu");
  EXPECT_DOUBLE_EQ(report.usage[0].values.mean, 50);
  ASSERT_EQ(report.timeline.system.size(), 1U);
  EXPECT_EQ(report.timeline.system[0].values.size(), 600U);
  ASSERT_EQ(report.timeline.phases.size(), 1U);
  double most = 0;
  for (const double share : report.timeline.phases[0].values)
    most = std::isfinite(share) ? std::max(most, share) : most;
  EXPECT_NEAR(most, 1, 1e-6);
}

TEST(ReadProfile, ReadsOnWhatIsNew) {
  TestRun run;
  sample_processors(run, {100, 102});
  const auto opened = open(run);
  EXPECT_DOUBLE_EQ(profile_of(*opened).usage.at(0).values.mean, 50);
  sample_processors(run, {106, 110});
  const ProfileReport report = profile_of(*opened);
  ASSERT_EQ(report.usage.size(), 1U);
  EXPECT_DOUBLE_EQ(report.usage[0].values.max, 100) << "4 more seconds of 4 processors in a second";
  EXPECT_DOUBLE_EQ(report.usage[0].values.mean, 250.0 / 3) << "50, 100 and 100: none lost, none twice";
}

TEST(ReadProfile, TwoSamplersOfOneMachineAreOneMachine) {
  TestRun run;
  sample_processors(run, {100, 102, 104});
  sample_processors(run, {104, 104}, TestRun::kMachine - 1);
  const ProfileReport report = profile_of(*open(run));
  EXPECT_EQ(report.usage.size(), 1U);
}

TEST(ReadProfile, WhatWasSampledAfterTheEndIsNoPart) {
  TestRun run;
  run.add_steps(0, 3);
  sample_processors(run, {100, 102});
  run.end();
  run.clock().advance_ns(10 * kProfileSecond);
  sample_processors(run, {102, 102, 102, 102});
  const ProfileReport report = profile_of(*open(run));
  ASSERT_EQ(report.usage.size(), 1U);
  EXPECT_DOUBLE_EQ(report.usage[0].values.mean, 50);
}

TEST(ReadProfile, ZoomsIntoAStretch) {
  TestRun run;
  const std::int64_t from = run.clock().unix_ns();
  sample_processors(run, {100, 101, 102, 106, 110});
  const auto opened = open(run);
  const auto use = opened->use();
  const auto timeline = read_profile_timeline(*use, {from + 2 * kProfileSecond, from + 4 * kProfileSecond, 2});
  ASSERT_TRUE(timeline.ok());
  ASSERT_EQ(timeline->system.size(), 1U);
  EXPECT_DOUBLE_EQ(timeline->system[0].values.at(1), 100);
}

TEST(ReadProfile, ComparesTwoRuns) {
  ProfileReport here, there;
  here.run.name = "here";
  there.run.name = "there";
  here.steps.duration_ms = ValueSpread{100, 100, 100, 100, 100, 100};
  there.steps.duration_ms = ValueSpread{200, 200, 200, 200, 200, 200};
  here.steps.count = there.steps.count = 10;
  here.steps.wall_seconds = 1;
  there.steps.wall_seconds = 2;
  const ProfileComparison comparison = compare_profiles(here, there);
  EXPECT_EQ(comparison.run, "there");
  ASSERT_FALSE(comparison.rows.empty());
  EXPECT_EQ(comparison.rows.front().what, "step, median");
  EXPECT_DOUBLE_EQ(comparison.rows.back().here, 2) << "twice the throughput";
}

}  // namespace
}  // namespace trainwarden::views
