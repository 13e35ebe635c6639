#include "work/jobs/job_limits.h"

#include <gtest/gtest.h>

namespace trainwarden::jobs {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

JobOrder order_with(std::optional<double> max_wait, std::optional<double> max_pending) {
  JobOrder order;
  order.submitted_unix_ns = 100 * kSecond;
  order.max_wait_seconds = max_wait;
  order.max_pending_seconds = max_pending;
  return order;
}

TEST(JobLimits, AJobThatWaitsMayDoSoUntilItsLimit) {
  const JobOrder order = order_with(30, 10);
  EXPECT_EQ(passed_waiting_limit(order, JobPhase::kPending, 110 * kSecond - 1), "");
  EXPECT_EQ(passed_waiting_limit(order, JobPhase::kPending, 110 * kSecond), "max_pending");
  EXPECT_EQ(passed_waiting_limit(order, JobPhase::kPending, 130 * kSecond), "max_wait");
}

TEST(JobLimits, PendingIsBeforeTheFirstStart) {
  const JobOrder order = order_with(30, 10);
  for (const JobPhase phase : {JobPhase::kInterrupted, JobPhase::kRestarting}) {
    EXPECT_EQ(passed_waiting_limit(order, phase, 120 * kSecond), "") << name(phase);
    EXPECT_EQ(passed_waiting_limit(order, phase, 130 * kSecond), "max_wait") << name(phase);
  }
}

TEST(JobLimits, WhatRunsOrHasNoLimitPassesNone) {
  EXPECT_EQ(passed_waiting_limit(order_with(30, 10), JobPhase::kTraining, 1000 * kSecond), "");
  EXPECT_EQ(passed_waiting_limit(order_with({}, {}), JobPhase::kPending, 1000 * kSecond), "");
}

TEST(JobLimits, OnlyWhatWasInterruptedByItsAgentsLossCounts) {
  const std::vector<Transition> all = {{1, 0, JobPhase::kTraining, "agent", ""},
                                       {2, 0, JobPhase::kInterrupted, kAgentLost, ""},
                                       {3, 0, JobPhase::kInterrupted, "slurm", ""},
                                       {4, 0, JobPhase::kFailed, kAgentLost, ""}};
  EXPECT_EQ(count_lost_agents(all), 1);
}

}  // namespace
}  // namespace trainwarden::jobs
