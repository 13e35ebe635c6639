#include "read/trial/run_state.h"

#include <vector>

#include <gtest/gtest.h>

namespace trainwarden::trial {
namespace {

constexpr std::int64_t kOld = 3600 * 1'000'000'000LL;
const format::RunEndEvent kCameToItsEnd{};
const format::RunEndEvent kWasStopped{true, "loss not decreasing"};

const WorkerLife kWriting{.writing = true, .has_written = true};
const WorkerLife kGone{.writing = false, .has_written = true};
const WorkerLife kSilent{.writing = false, .has_written = false};
const WorkerLife kDone{.writing = false, .has_written = true, .run_end = kCameToItsEnd};
const WorkerLife kSealing{.writing = true, .has_written = true, .run_end = kCameToItsEnd};
const WorkerLife kStopped{.writing = false, .has_written = true, .run_end = kWasStopped};

RunState state(std::vector<WorkerLife> workers, int world_size, std::int64_t age_ns = kOld) {
  return run_state(workers, world_size, age_ns);
}

TEST(RunState, OneWorker) {
  EXPECT_EQ(state({kWriting}, 1), RunState::kRunning);
  EXPECT_EQ(state({kGone}, 1), RunState::kDied);
  EXPECT_EQ(state({kDone}, 1), RunState::kCompleted);
  EXPECT_EQ(state({kSealing}, 1), RunState::kCompleted);
  EXPECT_EQ(state({kStopped}, 1), RunState::kStopped);
}

TEST(RunState, ManyWorkers) {
  EXPECT_EQ(state({kDone, kWriting}, 2), RunState::kRunning);
  EXPECT_EQ(state({kGone, kWriting}, 2), RunState::kRunning);
  EXPECT_EQ(state({kDone, kGone}, 2), RunState::kDied);
  EXPECT_EQ(state({kDone, kStopped}, 2), RunState::kStopped);
}

TEST(RunState, NotAllHaveStarted) {
  EXPECT_EQ(state({kWriting}, 2), RunState::kRunning);
  EXPECT_EQ(state({kSealing}, 2), RunState::kRunning);
  EXPECT_EQ(state({kDone}, 2), RunState::kCompleted);
  EXPECT_EQ(state({kGone}, 2), RunState::kDied);
}

TEST(RunState, ARunThatNobodyHasWrittenToIsStartingForAWhile) {
  EXPECT_EQ(state({}, 1, 0), RunState::kRunning);
  EXPECT_EQ(state({kSilent}, 1, kStartUpNs - 1), RunState::kRunning);
  EXPECT_EQ(state({kSilent}, 1, kStartUpNs), RunState::kDied);
  EXPECT_EQ(state({}, 1, kOld), RunState::kDied);
  EXPECT_EQ(state({kGone}, 1, 0), RunState::kDied);
}

TEST(WorkerLife, Ended) {
  EXPECT_FALSE(kWriting.ended(kOld));
  EXPECT_FALSE(kSilent.ended(kStartUpNs - 1)) << "it may be about to begin";
  EXPECT_TRUE(kSilent.ended(kStartUpNs)) << "it was killed before it wrote anything";
  EXPECT_TRUE(kGone.ended(0));
  EXPECT_TRUE(kDone.ended(0));
  EXPECT_TRUE(kSealing.ended(0));
}

}  // namespace
}  // namespace trainwarden::trial
