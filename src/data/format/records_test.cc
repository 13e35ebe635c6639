// The records of words and the scalars: round trips, exact JSON, and every truncation.
#include "data/format/records.h"

#include <gtest/gtest.h>

#include <cmath>

#include "data/format/control_record.h"
#include "data/format/damage_testing.h"

namespace trainwarden::format {
namespace {

Collection full_collection() {
  SavePolicy policy;
  policy[Mode::kTrain] = SaveSchedule{.save_interval = 3, .start_step = 4, .end_step = 10, .save_steps = {1, 20}};
  policy[Mode::kGlobal] = SaveSchedule{};
  return {.name = "conv",
          .include = {"conv0.*", "(?!x)\"y\""},
          .tensor_names = {"a", "b\xFF%"},
          .save = policy,
          .keep = KeepForm{.values = false, .statistics = true, .histogram = true, .hash = true, .shape = true}};
}

SegmentStart sample_start() {
  SegmentStart start;
  start.run = "0123456789abcdef0123456789abcdef";
  start.writer = "rank-00003";
  start.writer_id = 3;
  start.segment = 12;
  start.host = "node7";
  start.pid = 4711;
  start.collections = {full_collection(), Collection{.name = "plain"}};
  return start;
}

std::vector<NameEntry> sample_names() {
  return {{0, "conv0.weight", {"conv", "weights"}}, {0xFFFFFFFF, "__metadata__", {}}, {7, "odd\xFF", {}}};
}

StepEndRecord sample_step_end() {
  return {Mode::kEval, 17, {{"staging_full", 3, 4096, "the ring is full"}, {"too_large", 1, 1ull << 40, ""}}};
}

TEST(SegmentStartTest, RoundTrip) {
  const auto decoded = decode_segment_start(encode_segment_start(sample_start()));
  ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
  EXPECT_EQ(decoded->run, sample_start().run);
  EXPECT_EQ(decoded->writer, "rank-00003");
  EXPECT_EQ(decoded->writer_id, 3u);
  EXPECT_EQ(decoded->segment, 12u);
  EXPECT_EQ(decoded->format_version, 1);
  EXPECT_EQ(decoded->host, "node7");
  EXPECT_EQ(decoded->pid, 4711);
  EXPECT_EQ(decoded->collections, sample_start().collections);
}

TEST(SegmentStartTest, JsonIsExact) {
  SegmentStart start = sample_start();
  start.collections = {Collection{.name = "w", .include = {"^w"}, .save = SavePolicy::every(2)}};
  const std::string schedule = R"({"save_interval":2,"start_step":0})";
  EXPECT_EQ(encode_segment_start(start),
            R"({"run":"0123456789abcdef0123456789abcdef","writer":"rank-00003","writer_id":3,"segment":12,)"
            R"("format_version":1,"host":"node7","pid":4711,"collections":[{"name":"w","include":["^w"],)"
            R"("tensor_names":[],"save":{"train":)" +
                schedule + R"(,"eval":)" + schedule + R"(,"predict":)" + schedule + R"(,"global":)" + schedule +
                "}}]}");
}

TEST(SegmentStartTest, WrongFieldsAreNamed) {
  const std::string good = encode_segment_start(sample_start());
  const auto replaced = [&](std::string_view what, std::string_view by) {
    std::string text = good;
    EXPECT_NE(text.find(what), text.npos) << what;
    text.replace(text.find(what), what.size(), by);
    return decode_segment_start(text).status();
  };
  for (const auto& [what, by, field] : {std::tuple{"\"pid\":4711", "\"pid\":\"x\"", "pid"},
                                        {"\"writer_id\":3", "\"writer_id\":4294967296", "writer_id"},
                                        {"\"save_interval\":3", "\"save_interval\":0", "save_interval"},
                                        {"\"values\":false", "\"values\":0", "values"},
                                        {"[1,20]", "[1,2.5]", "save_steps"},
                                        {"b%FF%25", "b%FF%", "tensor_names"}}) {
    const Status status = replaced(what, by);
    EXPECT_EQ(status.code(), Code::kDataLoss) << what;
    EXPECT_NE(status.message().find("\"" + std::string(field) + "\""), std::string::npos) << status.message();
  }
}

TEST(NamesTest, RoundTrip) {
  const auto decoded = decode_names(encode_names(sample_names()));
  ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
  EXPECT_EQ(decoded->tensors, sample_names());
  EXPECT_TRUE(decoded->metrics.empty());
  EXPECT_EQ(decode_names(encode_names({})).value_or(Names{sample_names(), {}}), Names());
}

std::vector<MetricEntry> sample_metrics() {
  return {{0, {"cpu.3.utilisation", "", MetricKind::kRatio, MetricSource::kHost, ""}},
          {7, {"odd\xFF", "bytes", MetricKind::kCounter, MetricSource::kDevice, "GPU-0"}}};
}

TEST(NamesTest, MetricsRoundTripBesideTensors) {
  const auto decoded = decode_names(encode_names(sample_names(), sample_metrics()));
  ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
  EXPECT_EQ(*decoded, (Names{sample_names(), sample_metrics()}));
}

TEST(NamesTest, JsonOfMetricsIsExact) {
  EXPECT_EQ(encode_names({}, sample_metrics()),
            R"({"tensors":[],"metrics":[{"id":0,"name":"cpu.3.utilisation","unit":"","kind":"ratio","source":"host",)"
            R"("instance":""},{"id":7,"name":"odd%FF","unit":"bytes","kind":"counter","source":"device",)"
            R"("instance":"GPU-0"}]})");
}

TEST(NamesTest, AKindOfMetricsThatANewerWriterAddsIsUnknown) {
  const auto decoded = decode_names(
      R"({"tensors":[],"metrics":[{"id":1,"name":"a","unit":"","kind":"summary","source":"rack","instance":"3"}]})");
  ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
  EXPECT_EQ(decoded->metrics[0].metric, (Metric{"a", "", MetricKind::kUnknown, MetricSource::kUnknown, "3"}));
}

TEST(NamesTest, JsonIsExact) {
  EXPECT_EQ(
      encode_names(sample_names()),
      R"({"tensors":[{"id":0,"name":"conv0.weight","collections":["conv","weights"]},)"
      R"({"id":4294967295,"name":"%5F_metadata__","collections":[]},{"id":7,"name":"odd%FF","collections":[]}]})");
}

TEST(NamesTest, AWrongEntryIsNamed) {
  const Status status = decode_names(R"({"tensors":[{"id":0,"name":"a","collections":[]},{"id":-1}]})").status();
  EXPECT_EQ(status.message(), "names: tensor 1: field \"id\": expected a non-negative integer, found number");
}

TEST(StepEndTest, RoundTrip) {
  const auto decoded = decode_step_end(encode_step_end(sample_step_end()));
  ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
  EXPECT_EQ(*decoded, sample_step_end());
}

TEST(StepEndTest, JsonIsExact) {
  EXPECT_EQ(encode_step_end({Mode::kTrain, 5, {}}), R"({"mode":"train","mode_step":5,"losses":[]})");
  EXPECT_EQ(encode_step_end({Mode::kTrain, 5, {{"c", 1, 2, "m"}}}),
            R"({"mode":"train","mode_step":5,"losses":[{"cause":"c","count":1,"bytes":2,"message":"m"}]})");
}

TEST(StepEndTest, AnUnknownModeIsDataLoss) {
  EXPECT_EQ(decode_step_end(R"({"mode":"dream","mode_step":5,"losses":[]})").status().code(), Code::kDataLoss);
}

TEST(RunEndTest, RoundTrip) {
  for (const RunEndEvent& event : {RunEndEvent{}, RunEndEvent{true, "VanishingGradient fired"}}) {
    const auto decoded = decode_run_end(encode_run_end(event));
    ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
    EXPECT_EQ(*decoded, event);
  }
  EXPECT_EQ(encode_run_end({}), R"({"type":"run_end","state":"completed","reason":""})");
  EXPECT_EQ(event_type(encode_run_end({})).value_or(""), "run_end");
}

TEST(RunEndTest, OtherEventsAreNotRunEnds) {
  const auto decoded = decode_run_end(R"({"type":"stop_accepted"})");
  ASSERT_TRUE(decoded.ok());
  EXPECT_FALSE(decoded->has_value());
  EXPECT_EQ(decode_run_end(R"({"type":"run_end","state":"gone","reason":""})").status().code(), Code::kDataLoss);
}

TEST(StopRequestTest, RoundTrip) {
  const StopRequest request{"watch-0-12", "VanishingGradient fired at step 120", "watch-0", 1'700'000'000'000'000'000};
  const auto decoded = decode_stop_request(encode_stop_request(request));
  ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
  EXPECT_EQ(*decoded, request);
}

TEST(StopRequestTest, FilesAreRecognised) {
  EXPECT_EQ(stop_request_path("k"), "control/stop-k.json");
  EXPECT_TRUE(is_stop_request_file("stop-k.json"));
  for (const char* other : {"stop-.json", "stop-k.json.123-0.tmp", "start-k.json", "stop-k", ""}) {
    EXPECT_FALSE(is_stop_request_file(other)) << other;
  }
}

TEST(ScalarsTest, RoundTripOfEveryBit) {
  const std::vector<ScalarRow> rows = {{3, 0.1}, {0, -0.0}, {9, std::nan("0x123")}, {1, HUGE_VAL}};
  const std::string payload = encode_scalars(rows);
  const auto decoded = decode_scalars(as_bytes(payload));
  ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
  ASSERT_EQ(decoded->size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ((*decoded)[i].id, rows[i].id);
    EXPECT_EQ(std::memcmp(&(*decoded)[i].value, &rows[i].value, sizeof(double)), 0);
  }
  EXPECT_EQ(decode_scalars(as_bytes(encode_scalars({}))).value_or(rows).size(), 0u);
}

TEST(ScalarsTest, OneDecoderReadsPayloadsOfAnyShapeOneAfterTheOther) {
  ScalarsDecoder decoder;
  const std::vector<std::vector<ScalarRow>> steps = {
      {{1, 2.5}, {7, -0.0}}, {{1, 3.5}, {7, 1e300}}, {{4, 1.0}}, {}, {{1, 9.0}, {8, 2.0}}};
  for (const auto& rows : steps) {
    const std::string payload = encode_scalars(rows);
    const auto decoded = decoder.decode(as_bytes(payload));
    ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
    ASSERT_EQ(decoded->size(), rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ((*decoded)[i].id, rows[i].id);
      EXPECT_EQ(std::memcmp(&(*decoded)[i].value, &rows[i].value, sizeof(double)), 0);
    }
    EXPECT_EQ(decoder.decode(as_bytes(payload).first(payload.size() - 1)).status().code(), Code::kDataLoss);
    EXPECT_TRUE(decoder.decode(as_bytes(payload)).ok());
  }
}

std::vector<ReductionRow> sample_reductions() {
  return {{3, Reduction::kMean, true, 0.1},
          {3, Reduction::kProd, false, -0.0},
          {0, Reduction::kMin, false, HUGE_VAL},
          {9, Reduction::kL2, true, 5e-324}};
}

TEST(ReductionsTest, RoundTrip) {
  const std::string payload = encode_reductions(sample_reductions());
  EXPECT_EQ(decode_reductions(as_bytes(payload)).value_or({}), sample_reductions());
  EXPECT_TRUE(std::signbit(decode_reductions(as_bytes(payload)).value()[1].value));
  EXPECT_TRUE(decode_reductions(as_bytes(encode_reductions({}))).value_or(sample_reductions()).empty());
  EXPECT_EQ(first_rows(sample_reductions()), (std::vector<std::size_t>{0, 2, 3}));
}

TEST(ReductionsTest, WhatCannotBeIsDataLossThatNamesTheColumn) {
  const std::vector<std::pair<const char*, ReductionRow>> damages = {
      {"\"reduction\"", {1, static_cast<Reduction>(kReductionCount), false, 1}},
      {"lie together", {3, Reduction::kMax, false, 1}},
  };
  for (const auto& [what, row] : damages) {
    std::vector<ReductionRow> rows = sample_reductions();
    rows.push_back(row);
    const Status status = decode_reductions(as_bytes(encode_reductions(rows))).status();
    EXPECT_EQ(status.code(), Code::kDataLoss) << what;
    EXPECT_NE(status.message().find(what), std::string::npos) << status.message();
  }
}

// Every truncation of every record is an error and nothing worse; so is anything that a flipped bit makes of it.
TEST(RecordsTest, DamageIsNeverMoreThanAnError) {
  const auto run = [](std::string_view payload, auto decode) {
    for_each_truncation(payload, [&](ByteSpan damaged) { EXPECT_EQ(decode(damaged).code(), Code::kDataLoss); });
    for_each_flipped_bit(payload, [&](ByteSpan damaged) { (void)decode(damaged); });
  };
  run(encode_segment_start(sample_start()), [](ByteSpan b) { return decode_segment_start(as_text(b)).status(); });
  run(encode_names(sample_names()), [](ByteSpan b) { return decode_names(as_text(b)).status(); });
  run(encode_step_end(sample_step_end()), [](ByteSpan b) { return decode_step_end(as_text(b)).status(); });
  run(encode_run_end({true, "why"}), [](ByteSpan b) { return decode_run_end(as_text(b)).status(); });
  run(encode_scalars(std::vector<ScalarRow>{{1, 2}, {3, 4}}), [](ByteSpan b) { return decode_scalars(b).status(); });
  run(encode_reductions(sample_reductions()), [](ByteSpan b) { return decode_reductions(b).status(); });
  const std::string stop = encode_stop_request({"k", "r", "u", 1});
  run(stop.substr(0, stop.size() - 1), [](ByteSpan b) { return decode_stop_request(as_text(b)).status(); });
}

}  // namespace
}  // namespace trainwarden::format
