// Calls with the times of others, on tracks that are named, as they come into a step's batch.
#include "hook/capture/operators/track_log.h"

#include <gtest/gtest.h>

#include <chrono>

#include "hook/capture/operators/operator_batch.h"
#include "hook/capture/operators/operator_logs.h"

namespace trainwarden::capture {
namespace {

LoggedCall call(std::int64_t start_ns, std::int64_t duration_ns = 1) {
  return {.start_ns = start_ns, .duration_ns = duration_ns};
}

TEST(TrackLogTest, TracksHaveTheirCallsAndKeepTheirNumbers) {
  TrackLog log;
  log.add("second", call(1));
  log.add("first", call(2));
  log.add("second", call(3));
  CollectedTracks collected = log.take();
  ASSERT_EQ(collected.tracks.size(), 2u);
  EXPECT_EQ(collected.tracks[0].name, "first");
  EXPECT_EQ(collected.tracks[0].id, 1u);
  EXPECT_EQ(collected.tracks[1].calls.size(), 2u);
  EXPECT_EQ(collected.count(), 3u);
  log.add("first", call(4));
  collected = log.take();
  ASSERT_EQ(collected.tracks.size(), 1u);
  EXPECT_EQ(collected.tracks[0].id, 1u);
}

TEST(TrackLogTest, WhatFindsNoRoomIsCounted) {
  TrackLog log;
  for (std::size_t i = 0; i < TrackLog::kMaxTracks; ++i) log.add(std::to_string(i), call(0));
  log.add("one more", call(0));
  for (std::size_t i = 0; i < TrackLog::kMaxCalls; ++i) log.add("0", call(0));
  const CollectedTracks collected = log.take();
  EXPECT_EQ(collected.count(), TrackLog::kMaxCalls);
  EXPECT_EQ(collected.lost, 1 + TrackLog::kMaxTracks);
  EXPECT_EQ(log.take().lost, 0u);
}

TEST(TrackLogTest, AWindowBeginsWithoutTheCallsBeforeIt) {
  TrackLog log;
  log.add("track", call(0));
  log.open();
  EXPECT_EQ(log.take().count(), 0u);
}

TEST(TrackLogTest, ARecorderPutsThemIntoTheBatchOfTheStep) {
  constexpr std::int64_t kUnixNs = 1'700'000'000'000'000'000;
  FakeClock clock(kUnixNs);
  OperatorLogs& logs = OperatorLogs::create();
  const auto steady = [&](std::int64_t after_ns) {
    return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(clock.steady_ns() + after_ns));
  };
  const auto batch = [&] {
    return make_operator_batch(
        {{.global_step = 3, .mode = Mode::kTrain}, logs.take(), logs.names(), logs.stacks().names()});
  };
  logs.recorder().add("network", "before", OperatorKind::kUser, steady(0), steady(1));
  logs.open(clock);
  logs.recorder().add("network", "send", OperatorKind::kUser, steady(10), steady(25));
  const OperatorBatch read = batch();
  logs.close();
  ASSERT_EQ(read.calls.size(), 1u);
  EXPECT_EQ(read.names, std::vector<std::string>{"send"});
  EXPECT_EQ(read.tracks, (std::vector<OperatorTrack>{{.name = "network", .id = 0}}));
  EXPECT_EQ(read.calls[0],
            (OperatorCall{
                .name = 0, .track = 0, .kind = OperatorKind::kUser, .start_unix_ns = kUnixNs + 10, .duration_ns = 15}));
}

}  // namespace
}  // namespace trainwarden::capture
