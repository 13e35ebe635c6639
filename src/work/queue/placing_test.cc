#include "work/queue/placing.h"

#include <gtest/gtest.h>

namespace trainwarden::queue {
namespace {

const Capacity kFour = {{0, 1, 2, 3}, {0, 1}, 1000};

WaitingJob waits(const std::string& name, jobs::Needs needs, std::int64_t priority = 0, std::int64_t submitted = 0) {
  return {name, needs, priority, submitted};
}

TEST(Placing, JobsGetDevicesThatNobodyElseHas) {
  const Placing placing = place({waits("a", {.cpus = 1, .gpus = 1, .memory_bytes = 100}, 0, 1),
                                 waits("b", {.cpus = 2, .gpus = 0, .memory_bytes = 0}, 0, 2)},
                                {{{{0}}, {{0}}, 500}}, kFour);
  ASSERT_EQ(placing.starts.size(), 2u);
  EXPECT_EQ(placing.starts.at("a"), (jobs::Allocation{{{1}}, {{1}}, 100}));
  EXPECT_EQ(placing.starts.at("b"), (jobs::Allocation{{{2, 3}}, {{}}, 0}));
  EXPECT_TRUE(placing.reasons.empty());
}

// As those of a study with three trials at once on a machine with two GPUs.
TEST(Placing, JobsOfOneKindHaveAGpuEachAndTheNextOneWaits) {
  const jobs::Needs needs = {.cpus = 1, .gpus = 1, .memory_bytes = 100};
  const Placing placing =
      place({waits("study-0", needs, 0, 1), waits("study-1", needs, 0, 2), waits("study-2", needs, 0, 3)}, {}, kFour);
  ASSERT_EQ(placing.starts.size(), 2u);
  EXPECT_EQ(placing.starts.at("study-0").gpus, std::vector<int>{0});
  EXPECT_EQ(placing.starts.at("study-1").gpus, std::vector<int>{1});
  EXPECT_EQ(placing.reasons.at("study-2"), "waits for 1 GPU: 0 of 2 free");
}

// Processors 0 and 2 are threads of one core, 1 and 3 of another.
TEST(Placing, ABoundJobHasNoNeighbourOnItsCores) {
  const Capacity threads = {{0, 1, 2, 3}, {}, 1000, {{0, {0, 0}}, {1, {0, 1}}, {2, {0, 0}}, {3, {0, 1}}}};
  const jobs::Needs two = {.cpus = 2, .gpus = 0, .whole_cores = true};
  const Placing both = place({waits("a", two, 0, 1), waits("b", two, 0, 2)}, {}, threads);
  EXPECT_EQ(both.starts.at("a").cpus, std::vector<int>({0, 2}));
  EXPECT_EQ(both.starts.at("b").cpus, std::vector<int>({1, 3}));
  const jobs::Needs one = {.cpus = 1, .gpus = 0, .whole_cores = true};
  EXPECT_EQ(place({waits("a", one)}, {}, threads).starts.at("a").cpus, std::vector<int>({0, 2}))
      << "the core is its own";
  const Placing beside = place({waits("a", two)}, {{{{0}}, {{}}, 0}}, threads);
  EXPECT_EQ(beside.starts.at("a").cpus, std::vector<int>({1, 3})) << "another job is on the core of 0";
  const Placing none = place({waits("a", two)}, {{{{0}}, {{}}, 0}, {{{1}}, {{}}, 0}}, threads);
  EXPECT_EQ(none.reasons.at("a"), "waits for 2 processors: 0 of 4 free");
}

TEST(Placing, AJobThatSaysNothingHasTheMachineForItself) {
  const Placing placing = place({waits("a", {}, 0, 1), waits("b", {.cpus = 1}, 0, 2)}, {}, kFour);
  ASSERT_EQ(placing.starts.size(), 1u);
  EXPECT_EQ(placing.starts.at("a"), jobs::Allocation()) << "not confined to numbers";
  EXPECT_EQ(placing.reasons.at("b"), "waits for 1 processor: 0 of 4 free");
  EXPECT_EQ(place({waits("c", {})}, {jobs::Allocation()}, kFour).reasons.size(), 1u);
}

TEST(Placing, PriorityGoesBeforeAge) {
  const Placing placing =
      place({waits("old", {.cpus = 3, .gpus = 0}, 0, 1), waits("urgent", {.cpus = 3, .gpus = 0}, 5, 9)}, {}, kFour);
  EXPECT_TRUE(placing.starts.contains("urgent"));
  EXPECT_TRUE(placing.reasons.contains("old"));
}

TEST(Placing, WhatTheFirstWaitsForIsKeptForIt) {
  const std::vector<jobs::Allocation> running = {{{{0, 1}}, {{}}, 0}};
  const Placing placing =
      place({waits("big", {.cpus = 3, .gpus = 0}, 0, 1), waits("small", {.cpus = 1, .gpus = 0}, 0, 2)}, running, kFour);
  EXPECT_TRUE(placing.starts.empty()) << "it would wait for ever";
  // One that waits for a GPU does not hold up those that leave it what else it needs.
  const Placing beside =
      place({waits("gpus", {.cpus = 1, .gpus = 2}, 0, 1), waits("small", {.cpus = 1, .gpus = 0}, 0, 2)},
            {{{{0}}, {{0}}, 0}}, kFour);
  EXPECT_EQ(beside.starts.size(), 1u);
  EXPECT_EQ(beside.starts.at("small").cpus, (std::vector<int>{2}));
}

TEST(Placing, WhatNeverFitsHoldsUpNobody) {
  const Placing placing =
      place({waits("huge", {.cpus = 64}, 0, 1), waits("greedy", {.cpus = 1, .memory_bytes = 5000}, 0, 2),
             waits("small", {.cpus = 4}, 0, 3)},
            {}, kFour);
  EXPECT_EQ(placing.starts.size(), 1u);
  EXPECT_EQ(placing.reasons.at("huge"), "needs 64 processors, and there are 4 in all");
  EXPECT_NE(placing.reasons.at("greedy").find("in all"), std::string::npos);
}

TEST(Placing, MemoryIsCounted) {
  const Placing placing = place({waits("a", {.cpus = 1, .gpus = 0, .memory_bytes = 600}, 0, 1),
                                 waits("b", {.cpus = 1, .gpus = 0, .memory_bytes = 600}, 0, 2)},
                                {}, kFour);
  EXPECT_EQ(placing.starts.size(), 1u);
  EXPECT_NE(placing.reasons.at("b").find("free"), std::string::npos);
}

}  // namespace
}  // namespace trainwarden::queue
