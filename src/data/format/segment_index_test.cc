#include "data/format/segment_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "data/format/damage_testing.h"
#include "data/format/record_layouts.h"

namespace trainwarden::format {
namespace {

SegmentIndex sample_index() {
  SegmentIndex index;
  index.frames = {{0, FrameKind::kSegmentStart, -1, 200, 1},           {320, FrameKind::kNames, 5, 90, 2},
                  {512, FrameKind::kBundle, 5, 1'000'000, 3},          {1'000'640, FrameKind::kStepEnd, 5, 44, 4},
                  {1'000'768, static_cast<FrameKind>(0x90), -1, 0, 5}, {1'000'832, FrameKind::kStepEnd, 6, 44, 6}};
  index.steps = {{5, Mode::kTrain, 3, 4, 3, 0, 0, 2}, {6, Mode::kEval, 0, 9, 5, 2, 2, 0}};
  index.records = {{0, RecordForm::kValue, 2, 0}, {7, RecordForm::kShape, 2, 1}};
  return index;
}

TEST(SegmentIndexTest, RoundTrip) {
  const std::string payload = encode_segment_index(sample_index());
  const auto decoded = decode_segment_index(as_bytes(payload));
  ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
  EXPECT_EQ(*decoded, sample_index());
}

SegmentIndex index_with_samples() {
  SegmentIndex index = sample_index();
  index.frames.push_back({1'001'024, FrameKind::kSamples, -1, 500, 7});
  index.frames.push_back({1'001'600, FrameKind::kSamples, -1, 500, 8});
  index.samples = {{6, 1'000, 2'000, 0, 150}, {7, 2'000, 2'000, 151, 199}};
  return index;
}

TEST(SegmentIndexTest, SamplesRoundTrip) {
  const std::string payload = encode_segment_index(index_with_samples());
  const auto decoded = decode_segment_index(as_bytes(payload));
  ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
  EXPECT_EQ(*decoded, index_with_samples());
  EXPECT_EQ(encode_segment_index(sample_index()).find("sample."), std::string::npos)
      << "a segment without samples has the index that it always had";
}

TEST(SegmentIndexTest, SamplesThatCannotBeAreDamage) {
  const std::vector<std::pair<const char*, std::function<void(SegmentIndex&)>>> damages = {
      {"sample.frame", [](SegmentIndex& index) { index.samples[1].frame = 8; }},
      {"sample.frame", [](SegmentIndex& index) { index.samples[1].frame = 6; }},
      {"sample.frame", [](SegmentIndex& index) { index.samples[0].frame = 2; }},
      {"sample.frame", [](SegmentIndex& index) { index.samples.pop_back(); }},
      {"sample.last_unix_ns", [](SegmentIndex& index) { index.samples[0].last_unix_ns = 999; }},
      {"sample.highest_metric", [](SegmentIndex& index) { index.samples[1].highest_metric = 150; }},
  };
  for (const auto& [column, damage] : damages) {
    SegmentIndex index = index_with_samples();
    damage(index);
    const std::string payload = encode_segment_index(index);
    const Status status = decode_segment_index(as_bytes(payload)).status();
    EXPECT_EQ(status.code(), Code::kDataLoss) << column;
    EXPECT_NE(status.message().find(column), std::string::npos) << status.message();
  }
}

// Two layouts, of which three steps share the first.
SegmentIndex sharing_index() {
  SegmentIndex index;
  index.frames = {{0, FrameKind::kSegmentStart, -1, 200, 1}};
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint64_t offset = 320 + std::uint64_t{i} * 448;
    const std::int64_t step = 5 + i;
    index.frames.push_back({offset, FrameKind::kStatistics, step, 80, 2});
    index.frames.push_back({offset + 192, FrameKind::kScalars, step, 20, 2});
    index.frames.push_back({offset + 320, FrameKind::kStepEnd, step, 44, 2});
    StepIndexRow row{step, Mode::kTrain, i, 2, 3 * i + 3, 0};
    row.first_frame = 3 * i + 1;
    row.layout = i == 3 ? 1 : 0;
    index.steps.push_back(row);
  }
  index.layouts = {3, 1};
  index.records = {{0, RecordForm::kStatistics, 0, 0},
                   {7, RecordForm::kShape, 0, 1},
                   {8, RecordForm::kScalar, 1, 0},
                   {8, RecordForm::kScalar, 1, 0}};
  return index;
}

TEST(SegmentIndexTest, SharedRecordsRoundTrip) {
  const std::string payload = encode_segment_index(sharing_index());
  const auto decoded = decode_segment_index(as_bytes(payload));
  ASSERT_TRUE(decoded.ok()) << decoded.status().to_string();
  EXPECT_EQ(*decoded, sharing_index());
  EXPECT_EQ(payload.find("record."), std::string::npos) << "a reader of before must not take these for its own";
}

TEST(SegmentIndexTest, NoSharedRecordPointsToWhatIsNotThere) {
  const std::vector<std::pair<const char*, std::function<void(SegmentIndex&)>>> damages = {
      {"step.mode", [](SegmentIndex& index) { index.steps[0].mode = static_cast<Mode>(5); }},
      {"step.frame", [](SegmentIndex& index) { index.steps[3].frame = 13; }},
      {"step.frame", [](SegmentIndex& index) { index.steps[1].frame = 3; }},
      {"step.layout", [](SegmentIndex& index) { index.steps[1].layout = 2; }},
      {"step.layout", [](SegmentIndex& index) { index.frames[1].payload_bytes = index.frames[2].payload_bytes = 0; }},
      {"step.first_frame", [](SegmentIndex& index) { index.steps[0].first_frame = 2; }},
      {"step.first_frame", [](SegmentIndex& index) { index.steps[1].first_frame = 3; }},
      {"step.first_frame", [](SegmentIndex& index) { index.steps[1].first_frame = 0xFFFFFFFF; }},
      {"step.first_frame", [](SegmentIndex& index) { index.records[2].frame = 2; }},
      {"layout.frame", [](SegmentIndex& index) { index.records[2].frame = 0xFFFFFFFF; }},
      {"layout.form", [](SegmentIndex& index) { index.records[1].form = static_cast<RecordForm>(kRecordFormCount); }},
      {"layout.records", [](SegmentIndex& index) { index.layouts[0] = 2; }},
      {"layout.records", [](SegmentIndex& index) { index.layouts[1] = 0xFFFFFFFF; }},
  };
  for (const auto& [column, damage] : damages) {
    SegmentIndex index = sharing_index();
    damage(index);
    const Status status = decode_segment_index(as_bytes(encode_segment_index(index))).status();
    EXPECT_EQ(status.code(), Code::kDataLoss) << column;
    EXPECT_NE(status.message().find(column), std::string::npos) << status.message();
  }
}

// What is compressed may take less than a byte for each.
TEST(SegmentIndexTest, ARecordTakesAByteBeforeFramesAreCompressed) {
  SegmentIndex index = sharing_index();
  for (FrameIndexRow& frame : index.frames) frame.payload_bytes = std::min<std::uint64_t>(frame.payload_bytes, 1);
  const auto decoded = decode_segment_index(as_bytes(encode_segment_index(index)));
  EXPECT_TRUE(decoded.ok()) << decoded.status().to_string();
}

TEST(SegmentIndexTest, NoDamageOfSharedRecordsDoesHarm) {
  const std::string payload = encode_segment_index(sharing_index());
  for_each_truncation(
      payload, [](ByteSpan damaged) { EXPECT_EQ(decode_segment_index(damaged).status().code(), Code::kDataLoss); });
  for_each_flipped_bit(payload, [](ByteSpan damaged) {
    const auto index = decode_segment_index(damaged);
    if (!index.ok()) return;
    for (const StepIndexRow& step : index->steps) EXPECT_LT(step.frame, index->frames.size());
  });
}

TEST(RecordLayoutsTest, HasEachListOnce) {
  RecordLayouts layouts;
  const std::vector<RecordIndexRow> one = {{1, RecordForm::kScalar, 0, 0}, {2, RecordForm::kScalar, 0, 1}};
  const std::vector<RecordIndexRow> other = {{1, RecordForm::kScalar, 0, 0}, {2, RecordForm::kShape, 0, 1}};
  EXPECT_EQ(layouts.add(one), 0u);
  EXPECT_EQ(layouts.add(other), 1u);
  EXPECT_EQ(layouts.add({}), 2u);
  EXPECT_EQ(layouts.add(one), 0u);
  EXPECT_EQ(layouts.add(other), 1u);
  EXPECT_EQ(layouts.add({}), 2u);
  EXPECT_EQ(layouts.record_counts(), (std::vector<std::uint32_t>{2, 2, 0}));
  EXPECT_TRUE(std::equal(other.begin(), other.end(), layouts.records(1).begin(), layouts.records(1).end()));
  EXPECT_TRUE(layouts.records(2).empty());
}

TEST(SegmentIndexTest, AnEmptyIndexRoundTrips) {
  const std::string payload = encode_segment_index({});
  EXPECT_EQ(decode_segment_index(as_bytes(payload)).value_or(sample_index()), SegmentIndex());
}

TEST(SegmentIndexTest, EveryTruncationIsDataLoss) {
  for_each_truncation(encode_segment_index(sample_index()), [](ByteSpan damaged) {
    EXPECT_EQ(decode_segment_index(damaged).status().code(), Code::kDataLoss);
  });
}

TEST(SegmentIndexTest, NothingPointsToWhatIsNotThere) {
  const std::vector<std::pair<const char*, std::function<void(SegmentIndex&)>>> damages = {
      {"frame.offset", [](SegmentIndex& index) { index.frames[1].offset = 321; }},
      {"frame.offset", [](SegmentIndex& index) { index.frames[2].offset = 320; }},
      {"frame.offset", [](SegmentIndex& index) { index.frames[3].offset = 1'000'512; }},
      {"frame.payload_bytes", [](SegmentIndex& index) { index.frames[5].payload_bytes = ~std::uint64_t{0}; }},
      {"step.mode", [](SegmentIndex& index) { index.steps[0].mode = static_cast<Mode>(0); }},
      {"step.mode", [](SegmentIndex& index) { index.steps[0].mode = static_cast<Mode>(5); }},
      {"step.frame", [](SegmentIndex& index) { index.steps[1].frame = 6; }},
      {"step.frame", [](SegmentIndex& index) { index.steps[1].frame = 3; }},
      {"step.first_record", [](SegmentIndex& index) { index.steps[1] = {6, Mode::kEval, 0, 9, 5, 2, 1, 1}; }},
      {"step.record_count", [](SegmentIndex& index) { index.steps[0].record_count = 3; }},
      {"step.record_count", [](SegmentIndex& index) { index.steps[0].first_record = 0xFFFFFFFF; }},
      {"record.form", [](SegmentIndex& index) { index.records[1].form = static_cast<RecordForm>(kRecordFormCount); }},
      {"record.frame", [](SegmentIndex& index) { index.records[1].frame = 6; }},
      {"record.frame", [](SegmentIndex& index) { index.records[1].frame = 3; }},
      {"record.frame",
       [](SegmentIndex& index) {
         index.steps[1] = {6, Mode::kEval, 0, 9, 5, 2, 1, 1}, index.steps[0].record_count = 1;
       }},
  };
  for (const auto& [column, damage] : damages) {
    SegmentIndex index = sample_index();
    damage(index);
    const Status status = decode_segment_index(as_bytes(encode_segment_index(index))).status();
    EXPECT_EQ(status.code(), Code::kDataLoss) << column;
    EXPECT_NE(status.message().find(column), std::string::npos) << status.message();
  }
}

TEST(SegmentIndexTest, NoFlippedBitDoesHarm) {
  for_each_flipped_bit(encode_segment_index(sample_index()), [](ByteSpan damaged) {
    const auto index = decode_segment_index(damaged);
    if (!index.ok()) return;
    for (const RecordIndexRow& record : index->records) EXPECT_LT(record.frame, index->frames.size());
  });
}

TEST(TrailerTest, IsAlways64Bytes) {
  for (const Trailer& trailer : {Trailer{0, 0}, Trailer{~std::uint64_t{0}, 0xFFFFFFFF}, Trailer{4096, 12}}) {
    const std::string json = encode_trailer(trailer);
    EXPECT_EQ(json.size(), 64u);
    EXPECT_EQ(decode_trailer(json).value_or(Trailer{1, 1}), trailer);
  }
  EXPECT_EQ(encode_trailer({4096, 12}).substr(0, 34), R"({"index_offset":4096,"frames":12} )");
}

TEST(TrailerTest, DamageIsDataLoss) {
  const std::string json = encode_trailer({4096, 12});
  for_each_truncation(
      json, [](ByteSpan damaged) { EXPECT_EQ(decode_trailer(as_text(damaged)).status().code(), Code::kDataLoss); });
  EXPECT_EQ(decode_trailer(json + " ").status().code(), Code::kDataLoss);
  EXPECT_EQ(decode_trailer(std::string(64, ' ')).status().code(), Code::kDataLoss);
  for_each_flipped_bit(json, [](ByteSpan damaged) { (void)decode_trailer(as_text(damaged)); });
}

}  // namespace
}  // namespace trainwarden::format
