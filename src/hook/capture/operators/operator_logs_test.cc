// The logs of several threads, and the batch that is made of them.
#include "hook/capture/operators/operator_logs.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "hook/capture/fork_guard.h"
#include "hook/capture/operators/operator_batch.h"

namespace trainwarden::capture {
namespace {

constexpr std::int64_t kBegan = 1'700'000'000'000'000'000;

class OperatorLogsTest : public testing::Test {
 protected:
  ~OperatorLogsTest() override { logs_.close(); }

  void call(const char* name, std::int64_t duration_ns, OperatorKind kind = OperatorKind::kOperator,
            std::int64_t sequence = -1) {
    recorder_.begin(name, name, kind, sequence);
    clock_.advance_ns(duration_ns);
    recorder_.end(name);
  }
  OperatorBatch batch() {
    return make_operator_batch(
        {{.global_step = 3, .mode = Mode::kTrain}, logs_.take(), logs_.names(), logs_.stacks().names()});
  }

  FakeClock clock_{kBegan};
  OperatorLogs& logs_ = OperatorLogs::create();
  OperatorRecorder& recorder_ = logs_.recorder();
};

TEST_F(OperatorLogsTest, RecordsInAWindowAlone) {
  call("before", 1);
  logs_.open(clock_);
  EXPECT_TRUE(recorder_.is_recording());
  call("inside", 5, OperatorKind::kBackward, 17);
  logs_.close();
  EXPECT_FALSE(recorder_.is_recording());
  call("after", 1);
  const OperatorBatch read = batch();
  EXPECT_EQ(read.global_step, 3);
  EXPECT_EQ(read.mode, Mode::kTrain);
  EXPECT_EQ(read.names, std::vector<std::string>{"inside"});
  ASSERT_EQ(read.calls.size(), 1u);
  EXPECT_EQ(read.calls[0], (OperatorCall{.name = 0,
                                         .track = 0,
                                         .kind = OperatorKind::kBackward,
                                         .start_unix_ns = kBegan + 1,
                                         .duration_ns = 5,
                                         .sequence = 17}));
  ASSERT_EQ(read.tracks.size(), 1u);
  const auto thread = static_cast<std::uint64_t>(::syscall(SYS_gettid));
  EXPECT_EQ(read.tracks[0], (OperatorTrack{.name = "thread " + std::to_string(thread), .id = thread}));
}

TEST_F(OperatorLogsTest, WhatIsAroundComesFirst) {
  logs_.open(clock_);
  recorder_.begin(&clock_, "outer", OperatorKind::kUser);
  call("inner", 5);
  call("next", 1);
  recorder_.end(&clock_);
  const OperatorBatch read = batch();
  ASSERT_EQ(read.calls.size(), 3u);
  EXPECT_EQ(read.names[read.calls[0].name], "outer");
  EXPECT_EQ(read.names[read.calls[1].name], "inner");
  EXPECT_EQ(read.names[read.calls[2].name], "next");
}

TEST_F(OperatorLogsTest, WhatWasNotTakenOfAWindowIsNotInTheNext) {
  logs_.open(clock_);
  call("old", 1);
  logs_.close();
  clock_.advance_ns(1);
  logs_.open(clock_);
  call("new", 1);
  EXPECT_EQ(batch().names, std::vector<std::string>{"new"});
}

TEST_F(OperatorLogsTest, TakesWhileThreadsComeRecordAndGo) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 5;
  constexpr int kCalls = 3000;
  logs_.open(system_clock());
  std::uint64_t count = 0;
  std::uint64_t tracks = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::atomic<int> running = kThreads;
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([this, &running] {
        for (int n = 0; n < kCalls; ++n) {
          recorder_.begin(&n, n % 2 == 0 ? "even" : "odd", OperatorKind::kOperator, n);
          recorder_.end(&n);
        }
        --running;
      });
    }
    while (running > 0) count += logs_.take().count();
    threads.clear();
    const OperatorBatch rest = batch();
    count += rest.calls.size();
    tracks = std::max<std::uint64_t>(tracks, rest.tracks.size());
    EXPECT_EQ(rest.lost_calls, 0u);
  }
  EXPECT_EQ(count, std::uint64_t{kThreads} * kRounds * kCalls);
  EXPECT_LE(tracks, std::uint64_t{kThreads}) << "threads that are gone leave no log";
}

TEST_F(OperatorLogsTest, CountsWhatFindsNoRoom) {
  logs_.open(system_clock());
  constexpr std::int64_t kLogged = 4 * CallLog::kPieceCalls;
  logs_.set_room(kLogged);
  for (std::int64_t i = 0; i < kLogged + 7; ++i) {
    recorder_.begin(&i, "one", OperatorKind::kOperator);
    recorder_.end(&i);
  }
  const CollectedCalls calls = logs_.take();
  EXPECT_EQ(calls.count(), static_cast<std::uint64_t>(kLogged));
  EXPECT_EQ(calls.lost, 7u);
  EXPECT_TRUE(logs_.is_full());
}

TEST_F(OperatorLogsTest, AThreadMayRecordForSeveral) {
  OperatorLogs& others = OperatorLogs::create();
  logs_.open(clock_);
  others.open(clock_);
  call("ours", 1);
  others.recorder().begin(&others, "theirs", OperatorKind::kOperator);
  others.recorder().end(&others);
  call("ours", 1);
  others.close();
  EXPECT_EQ(logs_.take().count(), 2u);
  EXPECT_EQ(others.take().count(), 1u);
}

TEST_F(OperatorLogsTest, AForkedChildRecordsNothing) {
  watch_forks();
  logs_.open(clock_);
  call("ours", 1);
  const pid_t child = ::fork();
  if (child == 0) {
    const bool was_recording = recorder_.is_recording();
    call("child's", 1);
    ::_exit(was_recording || logs_.take().count() != 1 ? 1 : 0);
  }
  int state = 0;
  ::waitpid(child, &state, 0);
  EXPECT_TRUE(WIFEXITED(state) && WEXITSTATUS(state) == 0);
  call("ours", 1);
  EXPECT_EQ(logs_.take().count(), 2u);
}

}  // namespace
}  // namespace trainwarden::capture
