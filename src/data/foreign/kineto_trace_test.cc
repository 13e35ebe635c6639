// Traces of PyTorch's profiler, as several of its versions write them, and as nobody does.
#include "data/foreign/kineto_trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace trainwarden::foreign {
namespace {

// In pieces of this many bytes.
TextSource source_of(std::string_view text, std::size_t piece = 7) {
  return [text, piece](std::span<char> space) mutable -> Result<std::size_t> {
    const std::size_t bytes = std::min({text.size(), space.size(), piece});
    std::memcpy(space.data(), text.data(), bytes);
    text.remove_prefix(bytes);
    return bytes;
  };
}

struct ReadTrace {
  Result<KinetoTrace> trace = Status(Code::kInternal, "");
  std::vector<KinetoEvent> events;
};

ReadTrace read(std::string_view text) {
  ReadTrace read;
  read.trace = read_kineto_trace(source_of(text), [&](const KinetoEvent& event) {
    read.events.push_back(event);
    return Status();
  });
  return read;
}

TEST(KinetoTrace, TimesAreExactAndTheBaseMayFollow) {
  const ReadTrace found =
      read(R"({"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8},
    "traceEvents": [
    {"ph": "M", "name": "process_name", "pid": 1, "ts": 1},
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 12, "tid": 13, "ts": 88437691101.719, "dur": 0.04,
     "args": {"External id": 1, "Sequence number": 70, "Input Dims": [[2, 3], [{"stream": 9}]]}},
    {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": "stream 7", "ts": 1606910596297023, "dur": 13,
     "args": {"device": 0, "stream": 7}},
    {"ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": 5, "args": {"Device Type": 0, "Device Id": -1,
     "Bytes": -4, "Total Allocated": 12}}], "baseTimeNanoseconds": 1775078550000000000})");
  ASSERT_TRUE(found.trace.ok()) << found.trace.status().to_string();
  EXPECT_EQ(found.trace->base_ns, 1775078550000000000);
  EXPECT_EQ(found.trace->rank, 3);
  EXPECT_EQ(found.trace->world_size, 8);
  ASSERT_EQ(found.events.size(), 3u);
  EXPECT_EQ(found.events[0].start_ns, 88437691101719);
  EXPECT_EQ(found.events[0].duration_ns, 40);
  EXPECT_EQ(found.events[0].process, "12");
  EXPECT_EQ(found.events[0].thread, "13");
  EXPECT_EQ(found.events[0].sequence, 70);
  EXPECT_FALSE(found.events[0].stream.has_value()) << "what lies deeper is not an argument";
  EXPECT_EQ(found.events[1].start_ns, 1606910596297023000);
  EXPECT_EQ(found.events[1].thread, "stream 7");
  EXPECT_EQ(found.events[1].stream, 7);
  EXPECT_TRUE(found.events[2].is_instant);
  EXPECT_EQ(found.events[2].bytes, -4);
  EXPECT_EQ(found.events[2].total_allocated, 12);
}

TEST(KinetoTrace, MayBeAListAlone) {
  const ReadTrace found = read(R"([{"ph": "X", "name": "a", "ts": 1, "dur": -3}, {"ph": "X", "name": "no time"}, 5, [],
                                  {"name": "no phase", "ts": 1}, {"ph": "X", "name": "odd", "ts": 1e3, "dur": 2.5e0}])");
  ASSERT_TRUE(found.trace.ok()) << found.trace.status().to_string();
  ASSERT_EQ(found.events.size(), 2u);
  EXPECT_EQ(found.events[0].duration_ns, 0);
  EXPECT_EQ(found.events[1].start_ns, 1'000'000);
  EXPECT_EQ(found.events[1].duration_ns, 2500);
}

TEST(KinetoTrace, WhatIsNoTraceIsRefused) {
  for (const char* text :
       {"", "{}", "5", "{\"traceEvents\": 5}", "[{\"ph\": \"X\", \"ts\": 1", "{\"traceEvents\": [\xFF", "not json",
        "{\"traceEvents\": [{\"name\": \"control \x01\"}]}"}) {
    const ReadTrace found = read(text);
    EXPECT_EQ(found.trace.status().code(), Code::kDataLoss) << text;
    EXPECT_NE(found.trace.status().message().find("no trace of PyTorch's profiler"), std::string::npos) << text;
  }
}

TEST(KinetoTrace, ATextHasItsLimit) {
  const std::string large(kMaxKinetoTokenBytes + 10, 'x');
  const ReadTrace found = read("[{\"name\": \"" + large + "\"}]");
  EXPECT_EQ(found.trace.status().code(), Code::kDataLoss);
  EXPECT_NE(found.trace.status().message().find("more than"), std::string::npos) << found.trace.status().to_string();
}

TEST(KinetoTrace, ErrorsOfSourceAndSinkArePassedOn) {
  const auto failing =
      read_kineto_trace([](std::span<char>) -> Result<std::size_t> { return Status(Code::kUnavailable, "disk"); },
                        [](const KinetoEvent&) { return Status(); });
  EXPECT_EQ(failing.status().code(), Code::kUnavailable);
  const auto full = read_kineto_trace(source_of(R"([{"ph": "X", "ts": 1, "name": "a"}])"),
                                      [](const KinetoEvent&) { return Status(Code::kResourceExhausted, "full"); });
  EXPECT_EQ(full.status().code(), Code::kResourceExhausted);
}

TEST(KinetoTrace, ATimeThatIsNoneIsLeftOut) {
  const ReadTrace found =
      read(R"([{"ph": "X", "ts": 1e300, "name": "a"}, {"ph": "X", "ts": 99999999999999999999, "name": "b"},
                                  {"ph": "X", "ts": -5.25, "name": "c"}])");
  ASSERT_TRUE(found.trace.ok());
  ASSERT_EQ(found.events.size(), 1u);
  EXPECT_EQ(found.events[0].start_ns, -5250);
}

}  // namespace
}  // namespace trainwarden::foreign
