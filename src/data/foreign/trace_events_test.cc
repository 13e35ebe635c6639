#include "data/foreign/trace_events.h"

#include <gtest/gtest.h>

#include <string>

namespace trainwarden::foreign {
namespace {

constexpr std::size_t kMany = 1000;

const std::string kHead = R"([
{"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time_since_epoch_in_micros": 1589930987655184}},
{"name": "process_sort_index", "ph": "M", "pid": 0, "args": {"sort_index": 0}},
{"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "Step:ModeKeys.TRAIN"}},
)";
const std::string kStep =
    R"({"name": "Step:ModeKeys.TRAIN", "pid": 1, "ph": "X", "ts": 1008335, "dur": 1000000, "args": {"pid": 905, "step_num": "7"}})";

std::string name_of(const Trace& trace, const TraceEvent& event) {
  return trace.names.at(event.name);
}
std::string process_of(const Trace& trace, const TraceEvent& event) {
  return trace.processes.at(event.process);
}

TEST(TraceEventsTest, ACompleteEventWithItsStepAndTime) {
  const Trace trace = read_trace(kHead + kStep + "\n]", kMany);
  ASSERT_EQ(trace.events.size(), 1u);
  const TraceEvent& event = trace.events[0];
  EXPECT_EQ(trace.start_unix_us, 1589930987655184);
  EXPECT_EQ(name_of(trace, event), "Step:ModeKeys.TRAIN");
  EXPECT_EQ(process_of(trace, event), "Step:ModeKeys.TRAIN");
  EXPECT_EQ(event.start_ns, (1589930987655184 + 1008335) * 1000);
  EXPECT_EQ(event.duration_ns, 1'000'000'000);
  EXPECT_EQ(event.step, 7);
  EXPECT_EQ(trace.damaged + trace.unpaired + trace.left_out, 0u);
}

TEST(TraceEventsTest, TheEndOfTheArrayMayBeMissing) {
  EXPECT_EQ(read_trace(kHead + kStep + ",\n", kMany).events.size(), 1u);
  const Trace cut = read_trace(kHead + kStep + ",\n" + kStep.substr(0, 90), kMany);
  EXPECT_EQ(cut.events.size(), 1u);
  EXPECT_EQ(cut.damaged, 1u);
}

TEST(TraceEventsTest, DamageCostsTheEventsThatItHits) {
  std::string broken = kStep;
  broken[2] = '\n';  // in a string
  const Trace trace = read_trace(kHead + kStep + ",\n" + broken + ",\n" + kStep + "]", kMany);
  EXPECT_EQ(trace.events.size(), 2u);
  EXPECT_EQ(trace.damaged, 1u);
  const Trace wrong =
      read_trace(R"([{"ph":"X","name":"a","pid":1,"ts":"soon","dur":1},{"ph":"X","ts":1,"dur":-1}])", kMany);
  EXPECT_EQ(wrong.events.size(), 0u);
  EXPECT_EQ(wrong.damaged, 2u);
}

TEST(TraceEventsTest, BeginningsAreClosedByTheNextEndOfTheirTrack) {
  const Trace trace = read_trace(R"([
{"name": "outer", "pid": 1, "ph": "B", "ts": 10},
{"name": "inner", "pid": 1, "ph": "B", "ts": 20},
{"name": "other", "pid": 2, "ph": "B", "ts": 25},
{"pid": 1, "ph": "E", "ts": 30},
{"pid": 1, "ph": "E", "ts": 40},
{"pid": 3, "ph": "E", "ts": 50}
])",
                                 kMany);
  ASSERT_EQ(trace.events.size(), 2u);
  EXPECT_EQ(name_of(trace, trace.events[0]), "inner");
  EXPECT_EQ(trace.events[0].duration_ns, 10'000);
  EXPECT_EQ(name_of(trace, trace.events[1]), "outer");
  EXPECT_EQ(trace.events[1].duration_ns, 30'000);
  EXPECT_EQ(trace.unpaired, 2u);
}

TEST(TraceEventsTest, TensorFlowsObjectWithThreadsAndFractions) {
  const Trace trace = read_trace(R"({"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[
{"ph":"M","pid":49,"name":"process_name","args":{"name":"/host:CPU"}},
{"ph":"M","pid":49,"tid":7,"name":"thread_name","args":{"name":"tf_Compute"}},
{"pid":49,"tid":7,"ts":21335.25,"name":"MatMul","ph":"X","dur":9.9999999999999995e-07},{}]})",
                                 kMany);
  ASSERT_EQ(trace.events.size(), 1u);
  EXPECT_EQ(trace.events[0].start_ns, 21'335'250);
  EXPECT_EQ(trace.events[0].duration_ns, 0);
  EXPECT_EQ(process_of(trace, trace.events[0]), "/host:CPU");
  EXPECT_EQ(trace.threads.at({trace.events[0].process, 7}), "tf_Compute");
}

TEST(TraceEventsTest, ThereIsALimitToWhatIsKept) {
  std::string many = "[";
  for (int i = 0; i < 10; ++i) many += R"({"ph":"i","name":"x","pid":1,"ts":1,"s":"g"},)";
  const Trace trace = read_trace(many, 4);
  EXPECT_EQ(trace.events.size(), 4u);
  EXPECT_TRUE(trace.events[0].instant);
  EXPECT_EQ(trace.left_out, 6u);
}

TEST(TraceEventsTest, HopelessTextTakesNoTime) {
  std::string braces(1 << 20, '{');
  EXPECT_TRUE(read_trace(braces, kMany).events.empty());
  std::string lines;
  for (int i = 0; i < 200'000; ++i) lines += "{\"\n";
  EXPECT_EQ(read_trace(lines, kMany).damaged, 200'000u);
}

}  // namespace
}  // namespace trainwarden::foreign
