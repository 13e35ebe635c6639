#include "ui/cli/running/paced_sampler.h"

#include <gtest/gtest.h>

#include "core/base/folder_testing.h"

namespace trainwarden::cli {
namespace {

using std::chrono::milliseconds;

// Of a machine that has nothing to read, into no run.
sampling::SamplerPlan plan_in(const TestFolder& folder) {
  sampling::SamplerPlan plan{storage::Location(folder.path() / "run")};
  plan.host.root = folder.path();
  plan.host_interval = milliseconds(30);
  plan.writes = false;
  return plan;
}

TEST(PacedSampler, DoesWhatTheFileSays) {
  const TestFolder folder;
  PacedSampler sampler(plan_in(folder), {});
  sampler.start();
  EXPECT_EQ(sampler.follow({.interval_ms = 20}), "the machine is sampled every 20 ms, its GPUs every 20 ms");
  EXPECT_EQ(sampler.follow({.disabled = true}), "the machine is not sampled any more");
  EXPECT_EQ(sampler.follow({}), "the machine is sampled every 100 ms, its GPUs every 500 ms") << "as by default";
  EXPECT_TRUE(sampler.finish(true).has_value());
}

TEST(PacedSampler, WhatWasTypedStays) {
  const TestFolder folder;
  PacedSampler sampler(plan_in(folder), {.host = true});
  EXPECT_EQ(sampler.follow({.interval_ms = 20}), "the machine is sampled every 30 ms, its GPUs every 20 ms");
  EXPECT_TRUE(sampler.finish(true).has_value()) << "that started it";
}

TEST(PacedSampler, OneThatNeverStartedHasNothingToTell) {
  const TestFolder folder;
  PacedSampler sampler(plan_in(folder), {});
  EXPECT_EQ(sampler.follow({.disabled = true}), "the machine is not sampled any more");
  EXPECT_FALSE(sampler.finish(true).has_value());
}

}  // namespace
}  // namespace trainwarden::cli
