// Traces of operator calls: valid for any name, all that is there or a note of what was left out, times to the
// nanosecond.
#include "read/transfer/operator_trace.h"

#include <map>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "data/foreign/protobuf_wire.h"
#include "read/trial/run_testing.h"

namespace trainwarden::transfer {
namespace {

using nlohmann::json;

constexpr std::int64_t kBeginNs = 1'700'000'000'000'000'123;
const std::string kOddName = "odd\xFF\x01\n\"\\;name\xE2\x80\xA8";

class TextSink final : public TraceSink {
 public:
  Status append(std::string_view piece) override {
    text += piece;
    return {};
  }
  std::string text;
};

OperatorBatch traced_step(std::int64_t step) {
  const std::int64_t at = kBeginNs + step * 1'000'000;
  OperatorBatch batch;
  batch.global_step = step;
  batch.mode = Mode::kTrain;
  batch.names = {"aten::linear", kOddName, "AddmmBackward0", "gemm"};
  batch.tracks = {{"thread 1", 1, false}, {"GPU-0 stream 7", 7, true}};
  batch.calls = {{0, 0, OperatorKind::kOperator, at, 100'001, 5},
                 {1, 0, OperatorKind::kOperator, at + 10, 40'000, 5},
                 {2, 0, OperatorKind::kBackward, at + 200'000, 1'000, 5},
                 {3, 1, OperatorKind::kKernel, at + 7, 50, -1}};
  batch.memory = {{at + 11, 4096, 8192, 0}, {at + 12, 64, 64, -1}};
  batch.lost_calls = 1;
  return batch;
}

struct Traced {
  std::string text;
  TraceReport report;
};

Traced trace(Trial& trial, const TraceOptions& options) {
  TextSink sink;
  const auto report = write_trace(trial, options, sink);
  EXPECT_TRUE(report.ok()) << report.status().to_string();
  Traced traced{sink.text, report.value_or({})};
  EXPECT_EQ(traced.report.bytes, traced.text.size());
  return traced;
}

std::vector<json> events_of(const json& document, const std::string& phase) {
  std::vector<json> found;
  for (const json& event : document.at("traceEvents")) {
    if (event.at("ph") == phase) found.push_back(event);
  }
  return found;
}

// The events of phase X that are calls, by name.
std::map<std::string, std::vector<json>> calls_of(const json& document) {
  std::map<std::string, std::vector<json>> calls;
  for (const json& event : events_of(document, "X")) {
    if (event.at("cat") != "step") calls[event.at("name").get<std::string>()].push_back(event);
  }
  return calls;
}

TEST(ChromeTraceTest, HasEveryCallToTheNanosecond) {
  TestRun run(2);
  run.operators(traced_step(3));
  run.operators(traced_step(4));
  run.operators(traced_step(3), 1);
  const auto traced = trace(*run.open(), {});
  const json document = json::parse(traced.text);
  EXPECT_EQ(traced.report.steps, 3u);
  EXPECT_EQ(traced.report.calls, 12u);
  EXPECT_EQ(traced.report.lost_calls, 3u);
  EXPECT_EQ(traced.report.left_out_calls, 0u);
  EXPECT_EQ(document.at("baseTimeNanoseconds"), kBeginNs + 3'000'000);
  EXPECT_EQ(document.at("otherData").at("lost_calls"), "3");

  const auto calls = calls_of(document);
  ASSERT_EQ(calls.size(), 4u);
  const auto& linear = calls.at("aten::linear");
  ASSERT_EQ(linear.size(), 3u);
  EXPECT_EQ(linear[0].at("pid"), 0);
  EXPECT_EQ(linear[2].at("pid"), 1);
  EXPECT_EQ(linear[0].at("cat"), "operator");
  EXPECT_EQ(linear[0].at("args").at("sequence"), 5);
  EXPECT_NE(traced.text.find("\"ts\":0.000,\"dur\":100.001,\"name\":\"aten::linear\""), std::string::npos);
  EXPECT_NE(traced.text.find("\"ts\":1000.007,\"dur\":0.050,\"name\":\"gemm\""), std::string::npos);
  EXPECT_TRUE(calls.contains("odd\xEF\xBF\xBD\x01\n\"\\;name\xE2\x80\xA8"));
  EXPECT_EQ(calls.at("gemm")[0].at("cat"), "kernel");
  EXPECT_NE(calls.at("gemm")[0].at("tid"), linear[0].at("tid"));
  EXPECT_EQ(linear[1].at("tid"), linear[0].at("tid")) << "a track keeps its number from step to step";
}

TEST(ChromeTraceTest, WorkersTracksAndStepsHaveNames) {
  TestRun run(2);
  run.operators(traced_step(3));
  run.operators(traced_step(3), 1);
  const json document = json::parse(trace(*run.open(), {}).text);
  std::multiset<std::string> names;
  for (const json& event : events_of(document, "M")) {
    if (event.at("name") == "process_name" || event.at("name") == "thread_name") {
      names.insert(event.at("args").at("name").get<std::string>());
    }
  }
  EXPECT_EQ(names, (std::multiset<std::string>{"rank-00000", "rank-00001", "steps", "steps", "thread 1", "thread 1",
                                               "GPU-0 stream 7", "GPU-0 stream 7"}));
  std::vector<json> steps;
  for (const json& event : events_of(document, "X")) {
    if (event.at("cat") == "step") steps.push_back(event);
  }
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].at("name"), "step 3");
  EXPECT_EQ(steps[0].at("tid"), 0);
  EXPECT_EQ(steps[0].at("args").at("mode"), "train");
  EXPECT_EQ(steps[0].at("dur"), 201.0);
}

TEST(ChromeTraceTest, AnArrowLeadsFromTheInnermostForwardCallToTheBackwardCall) {
  TestRun run;
  run.operators(traced_step(0));
  run.operators(traced_step(1));
  const json document = json::parse(trace(*run.open(), {}).text);
  const auto starts = events_of(document, "s");
  const auto ends = events_of(document, "f");
  ASSERT_EQ(starts.size(), 2u);
  ASSERT_EQ(ends.size(), 2u);
  EXPECT_EQ(starts[0].at("ts"), 0.010);
  EXPECT_EQ(ends[0].at("ts"), 200.0);
  EXPECT_EQ(ends[0].at("bp"), "e");
  EXPECT_EQ(starts[0].at("id"), ends[0].at("id"));
  EXPECT_NE(starts[0].at("id"), starts[1].at("id")) << "sequence numbers of another step are others";
}

TEST(ChromeTraceTest, MemoryAndMetricsAreCounters) {
  TestRun run;
  OperatorBatch batch = traced_step(0);
  const std::int64_t now = run.clock().unix_ns();
  for (OperatorCall& call : batch.calls) call.start_unix_ns = now + call.start_unix_ns - kBeginNs;
  batch.memory = {{now + 11, 4096, 8192, 0}, {now + 12, 64, 64, -1}};
  run.operators(batch);
  run.sample({"cpu", "", MetricKind::kRatio, MetricSource::kHost, "node7"}, {0.5, 0.75, 0.9}, 100'000);
  const json document = json::parse(trace(*run.open(), {}).text);
  std::map<std::string, std::vector<json>> counters;
  for (const json& event : events_of(document, "C")) counters[event.at("name")].push_back(event.at("args"));
  EXPECT_EQ(counters.at("memory of device 0"), (std::vector<json>{{{"bytes", 8192}}}));
  EXPECT_EQ(counters.at("memory of the host"), (std::vector<json>{{{"bytes", 64}}}));
  EXPECT_EQ(counters.at("cpu node7"), (std::vector<json>{{{"value", 0.5}}, {{"value", 0.75}}, {{"value", 0.9}}}));
}

TEST(ChromeTraceTest, ATraceThatGrowsTooLargeSaysWhatItLeftOut) {
  TestRun run;
  for (std::int64_t step = 0; step < 4; ++step) {
    OperatorBatch batch = traced_step(step);
    batch.calls.resize(1);
    for (std::int64_t i = 1; i < 500; ++i) {
      OperatorCall call = batch.calls[0];
      call.start_unix_ns += i * 200'000;
      batch.calls.push_back(call);
    }
    run.operators(batch);
  }
  for (const std::uint64_t max_bytes : {std::uint64_t{20'000}, std::uint64_t{100'000}}) {
    TraceOptions options;
    options.max_bytes = max_bytes;
    const auto traced = trace(*run.open(), options);
    EXPECT_LE(traced.text.size(), max_bytes);
    const json document = json::parse(traced.text);
    EXPECT_EQ(calls_of(document).at("aten::linear").size(), traced.report.calls);
    EXPECT_EQ(traced.report.calls + traced.report.left_out_calls, 500 * traced.report.steps);
    EXPECT_EQ(traced.report.steps + traced.report.left_out_steps, 4u);
    EXPECT_GT(traced.report.left_out_calls, 0u);
    EXPECT_EQ(document.at("otherData").at("left_out_calls"), std::to_string(traced.report.left_out_calls));
  }
}

TEST(OperatorTraceTest, OnlyTheChosenStepsAndWorkersAreThere) {
  TestRun run(2);
  for (std::int64_t step = 0; step < 5; ++step) {
    run.operators(traced_step(step));
    run.operators(traced_step(step), 1);
  }
  const auto trial = run.open();
  EXPECT_EQ(trace(*trial, {.choice = {{"rank-00001"}, {{1, 3, 1}}}}).report.steps, 2u);
  EXPECT_EQ(trace(*trial, {.choice = {{}, {{4, std::nullopt, 1}}}}).report.steps, 2u);
  TextSink sink;
  const Status none = write_trace(*trial, {.choice = {{}, {{7, 9, 1}}}}, sink).status();
  EXPECT_EQ(none.code(), Code::kNotFound);
  const Status unknown = write_trace(*trial, {.choice = {{"rank-00002"}, {}}}, sink).status();
  EXPECT_EQ(unknown.code(), Code::kNotFound);
  EXPECT_NE(unknown.message().find("rank-00002"), std::string::npos);
  EXPECT_TRUE(sink.text.empty());
}

TEST(OperatorTraceTest, CollapsedStacksAddUpToTheTime) {
  TestRun run;
  run.operators(traced_step(0));
  run.operators(traced_step(1));
  const auto traced = trace(*run.open(), {.format = TraceFormat::kCollapsed});
  std::map<std::string, std::int64_t> stacks;
  std::istringstream lines(traced.text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t blank = line.rfind(' ');
    stacks[line.substr(0, blank)] = std::stoll(line.substr(blank + 1));
  }
  const std::map<std::string, std::int64_t> expected = {
      {"rank-00000 thread 1;aten::linear", 2 * 60'001},
      {"rank-00000 thread 1;aten::linear;odd\xEF\xBF\xBD  \"\\,name\xE2\x80\xA8", 2 * 40'000},
      {"rank-00000 thread 1;AddmmBackward0", 2 * 1'000},
      {"rank-00000 GPU-0 stream 7;gemm", 2 * 50}};
  EXPECT_EQ(stacks, expected);
  EXPECT_EQ(traced.report.calls, 8u);
}

// What opens closes again, within what opened before it, and time does not run backwards.
void expect_sound_profile(const json& profile, std::size_t frames) {
  std::vector<int> open;
  std::int64_t before = profile.at("startValue").get<std::int64_t>();
  for (const json& event : profile.at("events")) {
    const auto at = event.at("at").get<std::int64_t>();
    EXPECT_GE(at, before);
    before = at;
    ASSERT_LT(event.at("frame").get<std::size_t>(), frames);
    if (event.at("type") == "O") {
      open.push_back(event.at("frame"));
    } else {
      ASSERT_FALSE(open.empty());
      EXPECT_EQ(open.back(), event.at("frame"));
      open.pop_back();
    }
  }
  EXPECT_TRUE(open.empty());
  EXPECT_LE(before, profile.at("endValue").get<std::int64_t>());
}

TEST(OperatorTraceTest, SpeedscopeProfilesAreSound) {
  TestRun run;
  OperatorBatch batch = traced_step(0);
  batch.calls = {
      {0, 0, OperatorKind::kOperator, kBeginNs, 100, -1},     {1, 0, OperatorKind::kOperator, kBeginNs + 10, 50, -1},
      {2, 0, OperatorKind::kOperator, kBeginNs + 40, 40, -1}, {3, 0, OperatorKind::kOperator, kBeginNs + 60, 10, -1},
      {3, 0, OperatorKind::kOperator, kBeginNs + 100, 0, -1}, {0, 0, OperatorKind::kOperator, kBeginNs + 90, 50, -1},
      {3, 1, OperatorKind::kKernel, kBeginNs + 5, 7, -1}};
  std::swap(batch.calls[4], batch.calls[5]);
  run.operators(batch);
  run.operators(traced_step(1));
  const auto traced = trace(*run.open(), {.format = TraceFormat::kSpeedscope});
  const json document = json::parse(traced.text);
  const json& frames = document.at("shared").at("frames");
  ASSERT_EQ(frames.size(), 4u);
  EXPECT_EQ(frames[1].at("name"), "odd\xEF\xBF\xBD\x01\n\"\\;name\xE2\x80\xA8");
  ASSERT_EQ(document.at("profiles").size(), 4u);
  std::size_t events = 0;
  for (const json& profile : document.at("profiles")) {
    expect_sound_profile(profile, frames.size());
    events += profile.at("events").size();
  }
  EXPECT_EQ(document.at("profiles")[0].at("name"), "rank-00000 step 0 thread 1");
  EXPECT_EQ(events, 2 * traced.report.calls);
  EXPECT_EQ(traced.report.calls, 11u);
}

TEST(OperatorTraceTest, ASpeedscopeTraceThatGrowsTooLargeIsStillSound) {
  TestRun run;
  OperatorBatch batch = traced_step(0);
  batch.calls.clear();
  for (std::int64_t i = 0; i < 3'000; ++i) {
    batch.calls.push_back({0, 0, OperatorKind::kOperator, kBeginNs + i, 10'000 - 2 * i, -1});
  }
  run.operators(batch);
  const auto traced = trace(*run.open(), {.format = TraceFormat::kSpeedscope, .max_bytes = 100'000});
  EXPECT_LE(traced.text.size(), 100'000u);
  const json document = json::parse(traced.text);
  expect_sound_profile(document.at("profiles")[0], 1);
  EXPECT_EQ(traced.report.calls + traced.report.left_out_calls, 3'000u);
  EXPECT_GT(traced.report.left_out_calls, 0u);
}

// What a trace of Perfetto has, by its wire format alone: foreign_readers_test.cc asks Perfetto's own messages.
struct PerfettoCounts {
  int begins = 0, ends = 0, counters = 0, notes = 0, clocks = 0, tracks = 0;
};

PerfettoCounts counts_of(const std::string& trace) {
  PerfettoCounts counts;
  const auto bytes = [](const std::string& text) { return std::as_bytes(std::span(text.data(), text.size())); };
  const Status read = foreign::for_each_field(bytes(trace), "trace", [&](const foreign::WireField& packet) {
    return foreign::for_each_field(packet.bytes, "packet", [&](const foreign::WireField& field) -> Status {
      counts.clocks += field.number == 6;
      counts.tracks += field.number == 60;
      if (field.number != 11) return {};
      return foreign::for_each_field(field.bytes, "event", [&](const foreign::WireField& part) -> Status {
        if (part.number != 9) return {};
        counts.begins += part.bits == 1;
        counts.ends += part.bits == 2;
        counts.notes += part.bits == 3;
        counts.counters += part.bits == 4;
        return {};
      });
    });
  });
  EXPECT_TRUE(read.ok()) << read.to_string();
  return counts;
}

TEST(PerfettoTraceTest, EverySliceThatBeginsEnds) {
  TestRun run(2);
  run.operators(traced_step(3));
  run.operators(traced_step(4));
  run.operators(traced_step(3), 1);
  const auto traced = trace(*run.open(), {.format = TraceFormat::kPerfetto});
  EXPECT_EQ(traced.report.calls, 12u);
  const PerfettoCounts counts = counts_of(traced.text);
  EXPECT_EQ(counts.begins, 12 + 3);  // calls and steps
  EXPECT_EQ(counts.ends, counts.begins);
  EXPECT_EQ(counts.counters, 6);
  EXPECT_EQ(counts.notes, 1) << "of the calls that the run does not have";
  EXPECT_EQ(counts.tracks, 2 * (1 + 3 + 2) + 1) << "a process, its threads and steps, its counters; and the note";
}

TEST(PerfettoTraceTest, CallsThatOverlapInPartTakeATrackBesideTheirs) {
  TestRun run;
  OperatorBatch batch = traced_step(0);
  batch.memory.clear();
  batch.lost_calls = 0;
  batch.calls = {{0, 0, OperatorKind::kOperator, kBeginNs, 100, -1},
                 {1, 0, OperatorKind::kOperator, kBeginNs + 50, 100, -1}};
  run.operators(batch);
  const PerfettoCounts counts = counts_of(trace(*run.open(), {.format = TraceFormat::kPerfetto}).text);
  EXPECT_EQ(counts.begins, 3);
  EXPECT_EQ(counts.ends, 3);
  EXPECT_EQ(counts.tracks, 4) << "process, steps, the thread and one beside it";
  EXPECT_EQ(counts.notes, 0);
}

TEST(PerfettoTraceTest, AClockThatIsPutBackBeginsAnew) {
  TestRun run;
  OperatorBatch later = traced_step(1);
  for (OperatorCall& call : later.calls) call.start_unix_ns -= 10'000'000;
  run.operators(traced_step(0));
  run.operators(later);
  const PerfettoCounts counts = counts_of(trace(*run.open(), {.format = TraceFormat::kPerfetto}).text);
  EXPECT_EQ(counts.begins, counts.ends);
  EXPECT_EQ(counts.clocks, 2 + 1 + 2 + 1 + 3) << "of two tracks, the steps, two counters and the note; two tracks and "
                                                 "the steps once more, less the counters";
}

TEST(PerfettoTraceTest, ATraceThatGrowsTooLargeSaysWhatItLeftOut) {
  TestRun run;
  OperatorBatch batch = traced_step(0);
  batch.calls.resize(1);
  for (std::int64_t i = 1; i < 5000; ++i) {
    OperatorCall call = batch.calls[0];
    call.start_unix_ns += i * 200'000;
    batch.calls.push_back(call);
  }
  run.operators(batch);
  const auto traced = trace(*run.open(), {.format = TraceFormat::kPerfetto, .max_bytes = 60'000});
  EXPECT_LE(traced.text.size(), 60'000u);
  EXPECT_GT(traced.report.calls, 500u);
  EXPECT_EQ(traced.report.calls + traced.report.left_out_calls, 5000u);
  const PerfettoCounts counts = counts_of(traced.text);
  EXPECT_EQ(counts.begins, counts.ends);
  EXPECT_EQ(counts.notes, 1);
}

TEST(TraceTest, TheMachineStandsBesideTheWorkers) {
  TestRun run;
  OperatorBatch batch = traced_step(0);
  const std::int64_t now = run.clock().unix_ns();
  for (OperatorCall& call : batch.calls) call.start_unix_ns = now + call.start_unix_ns - kBeginNs;
  run.operators(batch);
  run.sample_together({{{"memory.used", "bytes", MetricKind::kGauge, MetricSource::kHost, "node7"}, {1e9, 2e9}},
                       {{"memory.total", "bytes", MetricKind::kGauge, MetricSource::kHost, "node7"}, {4e9, 4e9}}},
                      100'000);
  const json document = json::parse(trace(*run.open(), {}).text);
  std::vector<double> shares;
  for (const json& event : events_of(document, "C")) {
    if (event.at("name") == "memory node7") shares.push_back(event.at("args").at("%"));
  }
  EXPECT_EQ(shares, (std::vector<double>{25, 50}));
}

}  // namespace
}  // namespace trainwarden::transfer
