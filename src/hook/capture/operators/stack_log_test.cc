// Samples of stacks, and the calls that they become.
#include "hook/capture/operators/stack_log.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "hook/capture/operators/operator_batch.h"
#include "hook/capture/operators/operator_logs.h"

namespace trainwarden::capture {
namespace {

// Name, start and duration.
using Sampled = std::tuple<std::string, std::int64_t, std::int64_t>;

class StackLogTest : public testing::Test {
 protected:
  // A stack of the one thread: "main train step".
  void sample(std::int64_t now_ns, const std::vector<std::string>& names, std::uint64_t thread = 1) {
    std::vector<std::uint32_t> frames;
    for (const std::string& name : names) frames.push_back(log_.number_of(name));
    const ThreadStack stack{.thread_id = thread, .thread_name = "MainThread", .frames = frames};
    log_.add({&stack, 1}, now_ns, 7);
  }
  std::vector<Sampled> taken() {
    std::vector<Sampled> calls;
    for (const auto& thread : log_.take().threads) {
      for (const LoggedCall& call : thread.calls) {
        EXPECT_EQ(call.kind, OperatorKind::kPythonStack);
        calls.emplace_back(log_.names().name(call.name), call.start_ns, call.duration_ns);
      }
    }
    return calls;
  }

  StackLog log_;
};

TEST_F(StackLogTest, NeighboursThatBeginAlikeAreOneCall) {
  log_.open(100);
  sample(110, {"main", "load"});
  sample(120, {"main", "load"});
  sample(130, {"main", "train"});
  EXPECT_EQ(taken(), (std::vector<Sampled>{{"load", 100, 20}, {"main", 100, 30}, {"train", 120, 10}}));
}

TEST_F(StackLogTest, ACallThatWasAwayForASampleIsTwo) {
  log_.open(0);
  sample(10, {"main", "load"});
  sample(20, {"main"});
  sample(30, {"main", "load"});
  EXPECT_EQ(taken(), (std::vector<Sampled>{{"load", 0, 10}, {"main", 0, 30}, {"load", 20, 10}}));
}

TEST_F(StackLogTest, AStepEndsWhatIsOpenAndTheNextOneBeginsThere) {
  log_.open(0);
  sample(10, {"main"});
  EXPECT_EQ(taken(), (std::vector<Sampled>{{"main", 0, 10}}));
  EXPECT_TRUE(taken().empty()) << "no sample fell into this step";
  sample(25, {"main", "step"});
  EXPECT_EQ(taken(), (std::vector<Sampled>{{"main", 10, 15}, {"step", 10, 15}}));
}

TEST_F(StackLogTest, AThreadThatIsGoneHasEnded) {
  log_.open(0);
  sample(10, {"main"}, 1);
  sample(20, {"worker"}, 2);
  sample(30, {"worker"}, 2);
  EXPECT_EQ(taken(), (std::vector<Sampled>{{"main", 0, 10}, {"worker", 10, 20}}));
}

TEST_F(StackLogTest, ALaterWindowKnowsNothingOfTheOneBefore) {
  log_.open(0);
  sample(10, {"old"});
  log_.open(1000);
  sample(1005, {"new"});
  const CollectedStacks collected = log_.take();
  ASSERT_EQ(collected.threads.size(), 1u);
  EXPECT_EQ(collected.threads[0].calls[0].start_ns, 1000);
  EXPECT_EQ(collected.cost_ns, 7);
}

TEST_F(StackLogTest, AClockThatStandsStillGivesNoTime) {
  log_.open(10);
  sample(10, {"main"});
  sample(9, {"main"});
  EXPECT_TRUE(taken().empty());
}

TEST_F(StackLogTest, WhatIsTooMuchIsLeftOut) {
  log_.open(0);
  sample(1, std::vector<std::string>(StackLog::kMaxDepth + 5, "deep"));
  EXPECT_EQ(log_.take().count(), StackLog::kMaxDepth);
  std::vector<ThreadStack> crowd;
  const std::uint32_t frame = log_.number_of("main");
  for (std::uint64_t id = 0; id < StackLog::kMaxThreads + 3; ++id) {
    crowd.push_back({.thread_id = id, .thread_name = "t", .frames = {&frame, 1}});
  }
  log_.add(crowd, 2, 0);
  EXPECT_EQ(log_.take().threads.size(), StackLog::kMaxThreads);
  std::int64_t now = 2;
  for (std::size_t i = 0; i < StackLog::kMaxCalls + 10; ++i) sample(++now, {i % 2 == 0 ? "a" : "b"});
  const CollectedStacks collected = log_.take();
  EXPECT_EQ(collected.count(), StackLog::kMaxCalls);
  EXPECT_EQ(collected.lost, 10u);
}

TEST(MemoryLog, KeepsWhatChanged) {
  FakeClock clock(1000);
  OperatorLogs& logs = OperatorLogs::create();
  OperatorRecorder& recorder = logs.recorder();
  recorder.note_memory(-1, 5);  // outside of a window
  logs.open(clock);
  recorder.note_memory(-1, 100);
  recorder.note_memory(0, 7);
  clock.advance_ns(10);
  recorder.note_memory(-1, 100);
  recorder.note_memory(-1, 60);
  const std::vector<MemoryChange> expected = {{1000, 0, 100, -1}, {1000, 0, 7, 0}, {1010, -40, 60, -1}};
  EXPECT_EQ(logs.take().memory, expected);
  recorder.note_memory(-1, 70);
  EXPECT_EQ(logs.take().memory, (std::vector<MemoryChange>{{1010, 10, 70, -1}}));
  for (std::int64_t bytes = 0; bytes < 2 * static_cast<std::int64_t>(MemoryLog::kMaxChanges); ++bytes) {
    recorder.note_memory(-1, bytes);
  }
  EXPECT_EQ(logs.take().memory.size(), MemoryLog::kMaxChanges);
  for (std::int32_t device = 0; device < 500; ++device) recorder.note_memory(device, 1);
  EXPECT_LE(logs.take().memory.size(), MemoryLog::kMaxDevices);
  logs.close();
}

TEST(StackLogOfAHook, StacksHaveTracksOfTheirOwn) {
  FakeClock clock(1000);
  OperatorLogs& logs = OperatorLogs::create();
  OperatorRecorder& recorder = logs.recorder();
  const std::uint32_t frame = recorder.frame_number("train (train.py:7)");
  const ThreadStack stack{.thread_id = 4711, .thread_name = "MainThread", .frames = {&frame, 1}};
  recorder.add_stacks({&stack, 1}, 5);  // outside of a window
  logs.open(clock);
  recorder.begin(&clock, "aten::mm", OperatorKind::kOperator);
  clock.advance_ns(10);
  recorder.end(&clock);
  recorder.add_stacks({&stack, 1}, 5);
  CollectedCalls calls = logs.take();
  logs.close();
  EXPECT_EQ(calls.count(), 1u);
  EXPECT_EQ(calls.stacks.cost_ns, 5);
  const OperatorBatch batch =
      make_operator_batch({{.global_step = 3, .mode = Mode::kTrain}, calls, logs.names(), logs.stacks().names()});
  ASSERT_EQ(batch.tracks.size(), 2u);
  EXPECT_EQ(batch.tracks[1], (OperatorTrack{.name = "python thread MainThread", .id = 4711}));
  ASSERT_EQ(batch.calls.size(), 2u);
  EXPECT_EQ(batch.names[batch.calls[1].name], "train (train.py:7)");
  EXPECT_EQ(batch.calls[1].track, 1u);
  EXPECT_EQ(batch.calls[1].start_unix_ns, 1000);
  EXPECT_EQ(batch.calls[1].duration_ns, 10);
}

}  // namespace
}  // namespace trainwarden::capture
