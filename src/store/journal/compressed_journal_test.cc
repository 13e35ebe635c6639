// Runs whose frames are compressed: what is written of them, how they are followed, and what crafted ones may cost.
#include <zstd.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/crc32c.h"
#include "data/format/compression.h"
#include "data/format/names_record.h"
#include "store/journal/all_events.h"
#include "store/journal/format_versions.h"
#include "store/journal/sample_run.h"
#include "store/journal/segment_decoder.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::journal {
namespace {

using format::FrameHeader;
using format::FrameKind;

constexpr const char* kCompressedSegment = "journal/rank-00000/seg-00000000.tw";

std::unique_ptr<JournalWriter> open_writer_of_version(storage::Storage& storage, const Clock& clock, int version) {
  RunInfo info = sample_run_info();
  info.format_version = version;
  auto writer = JournalWriter::open(storage, clock, info, sample_journal_options());
  EXPECT_TRUE(writer.ok()) << writer.status().to_string();
  return *std::move(writer);
}

std::vector<FrameHeader> headers_of(const std::string& segment) {
  std::vector<FrameHeader> headers;
  for (std::size_t offset = 0; offset < segment.size(); offset += headers.back().frame_bytes()) {
    const auto header = format::decode_frame_header(as_bytes(segment).subspan(offset, format::kFrameHeaderBytes));
    EXPECT_TRUE(header.ok());
    if (!header.ok()) break;
    headers.push_back(*header);
  }
  return headers;
}

// One scalar for each of so many tensors, all the same: what compresses best.
std::unique_ptr<SampleStep> step_of_equal_scalars(std::int64_t global_step, std::uint32_t count) {
  auto step = std::make_unique<SampleStep>(global_step, Mode::kTrain, global_step);
  for (std::uint32_t id = 0; id < count; ++id) {
    if (global_step == 0) step->name_tensor(id, "encoder.layer." + std::to_string(id) + ".weight", {"weights"});
    step->add_scalar(id, 0);
  }
  return step;
}

TEST(CompressedJournalTest, OnlyRunsOfTheSecondVersionHaveCompressedFrames) {
  const std::string note = R"({"type":"note","text":")" + std::string(2000, 'x') + "\"}";
  for (const int version : {kPlainVersion, kCompressedVersion}) {
    const auto storage = storage::create_memory_storage();
    FakeClock clock;
    const auto writer = open_writer_of_version(*storage, clock, version);
    for (std::int64_t i = 0; i < 20; ++i) {
      const auto step = step_of_everything(i, Mode::kTrain, i, i == 0);
      ASSERT_TRUE(writer->append_step(step->batch()).ok());
    }
    ASSERT_TRUE(writer->append_event(FrameKind::kEvent, -1, note).ok());
    ASSERT_TRUE(writer->seal().ok());
    std::map<FrameKind, int> compressed;
    for (const FrameHeader& header : headers_of(storage->content(kCompressedSegment))) {
      if ((header.flags & format::kCompressedFlag) != 0) ++compressed[header.kind];
    }
    if (version == kPlainVersion) {
      EXPECT_TRUE(compressed.empty());
    } else {
      EXPECT_EQ(compressed[FrameKind::kStatistics], 20);
      EXPECT_EQ(compressed[FrameKind::kNames], 1);
      for (const FrameKind kind : {FrameKind::kSegmentStart, FrameKind::kBundle, FrameKind::kStepEnd, FrameKind::kIndex,
                                   FrameKind::kTrailer}) {
        EXPECT_EQ(compressed[kind], 0) << format::name(kind);
      }
    }
    const auto reader = open_sample_reader(*storage, false);
    ASSERT_EQ(reader->steps().size(), 20u);
    for (std::int64_t i = 0; i < 20; ++i) {
      const auto step = step_of_everything(i, Mode::kTrain, i, i == 0);
      ASSERT_EQ(difference(*reader, static_cast<std::size_t>(i), step->batch()), "");
    }
    ASSERT_EQ(all_events(*reader).size(), 1u);
    EXPECT_EQ(all_events(*reader)[0].json, note);
    ASSERT_TRUE(reader->verify_all().ok());
    for (const RunLoss& loss : reader->losses()) EXPECT_TRUE(loss.by_writer) << loss.cause;
  }
}

// So many that steps share their records in the index.
TEST(CompressedJournalTest, StepsOfManyEqualScalarsAreReadThroughTheirIndex) {
  constexpr std::uint32_t kMany = 2000;
  const auto storage = storage::create_memory_storage();
  FakeClock clock;
  const auto writer = open_writer_of_version(*storage, clock, kCompressedVersion);
  for (std::int64_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(writer->append_step(step_of_equal_scalars(i, kMany)->batch()).ok());
  }
  ASSERT_TRUE(writer->seal().ok());
  const auto reader = open_sample_reader(*storage, false);
  for (const RunLoss& loss : reader->losses()) ADD_FAILURE() << loss.cause;
  ASSERT_EQ(reader->steps().size(), 3u);
  EXPECT_EQ(reader->layout(1).value(), reader->layout(2).value());
  EXPECT_EQ(reader->records(2).value().size(), kMany);
}

TEST(CompressedJournalTest, WhoFollowsSeesEachStepAtOnce) {
  const auto storage = storage::create_memory_storage();
  FakeClock clock;
  const auto writer = open_writer_of_version(*storage, clock, kCompressedVersion);
  std::unique_ptr<JournalReader> reader;
  for (std::int64_t i = 0; i < 5; ++i) {
    const auto step = step_of_everything(i, Mode::kTrain, i, i == 0);
    ASSERT_TRUE(writer->append_step(step->batch()).ok());
    if (!reader) reader = open_sample_reader(*storage, true);
    ASSERT_TRUE(reader->refresh().ok());
    ASSERT_EQ(reader->steps().size(), static_cast<std::size_t>(i + 1));
    ASSERT_EQ(difference(*reader, static_cast<std::size_t>(i), step->batch()), "");
  }
  for (const RunLoss& loss : reader->losses()) EXPECT_TRUE(loss.by_writer) << loss.cause;
}

// Bytes that a network file system has not brought yet are waited for, also where words are compressed.
TEST(CompressedJournalTest, CompressedWordsThatAreLateAreWaitedFor) {
  const auto storage = storage::create_memory_storage();
  FakeClock clock;
  const auto writer = open_writer_of_version(*storage, clock, kCompressedVersion);
  ASSERT_TRUE(writer->append_step(step_of_equal_scalars(0, 300)->batch()).ok());
  const std::string whole = storage->content(kCompressedSegment);
  const auto names = headers_of(whole)[1];
  ASSERT_EQ(names.kind, FrameKind::kNames);
  ASSERT_TRUE(format::is_compressed(names));
  std::string late = whole;
  const std::size_t payload = names.file_offset + format::kFrameHeaderBytes;
  late.replace(payload + 100, names.payload_bytes - 100, names.payload_bytes - 100, '\0');
  storage->set_content(kCompressedSegment, late);
  const auto reader = open_sample_reader(*storage, true);
  EXPECT_TRUE(reader->steps().empty());
  storage->set_content(kCompressedSegment, whole);
  ASSERT_TRUE(reader->refresh().ok());
  EXPECT_EQ(reader->steps().size(), 1u);
  EXPECT_TRUE(reader->losses().empty());
}

TEST(CompressedJournalTest, ValuesAreMappedAsBefore) {
  const auto storage = storage::create_memory_storage();
  FakeClock clock;
  const auto writer = open_writer_of_version(*storage, clock, kCompressedVersion);
  SampleStep step(0, Mode::kTrain, 0);
  step.name_tensor(0, sample_name(0));
  step.keep(0, DType::kFloat32, {64, 64});
  ASSERT_TRUE(writer->append_step(step.batch()).ok());
  ASSERT_TRUE(writer->seal().ok());
  const auto reader = open_sample_reader(*storage, false);
  const auto records = reader->records(0);
  ASSERT_TRUE(records.ok());
  ASSERT_EQ(records->size(), 1u);
  const auto value = reader->read_value((*records)[0]);
  ASSERT_TRUE(value.ok());
  const std::string& segment = storage->content(kCompressedSegment);
  EXPECT_NE(segment.find(as_text(value->data)), std::string::npos) << "as it was in memory";
}

// A frame of words that somebody has made: its checksums are right.
std::string with_words(std::string segment, FrameKind kind, const std::string& payload, std::uint64_t sequence) {
  FrameHeader header;
  header.kind = kind;
  header.flags = format::kCompressedFlag;
  header.payload_crc = crc32c(as_bytes(payload));
  header.payload_bytes = payload.size();
  header.file_offset = segment.size();
  header.sequence = sequence;
  header.run_salt = run_salt(sample_run_info());
  header.unix_ns = 1'700'000'000'000'000'000;
  segment += as_text(format::encode_frame_header(header));
  segment += payload;
  segment.resize(align_up(segment.size(), format::kFrameAlignment), '\0');
  return segment;
}

std::string compressed_words(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 1));
  return packed;
}

class CraftedWords : public testing::Test {
 protected:
  // A step, and behind it words that are whole by their checksum.
  std::unique_ptr<JournalReader> reader_of(const std::string& payload, bool live) {
    const auto writer = open_writer_of_version(*storage_, clock_, kCompressedVersion);
    EXPECT_TRUE(writer->append_step(small_step(0, true)->batch()).ok());
    const std::string segment = storage_->content(kCompressedSegment);
    const std::uint64_t frames = headers_of(segment).size();
    const std::string crafted = with_words(segment, FrameKind::kEvent, payload, frames);
    storage_->set_content(kCompressedSegment,
                          with_words(crafted, FrameKind::kEvent, compressed_words("{}"), frames + 1));
    return open_sample_reader(*storage_, live);
  }
  static std::size_t causes(const JournalReader& reader, std::string_view cause) {
    std::size_t count = 0;
    for (const RunLoss& loss : reader.losses()) count += loss.cause == cause ? loss.count : 0;
    return count;
  }

  const std::unique_ptr<storage::MemoryStorage> storage_ = storage::create_memory_storage();
  FakeClock clock_;
};

TEST_F(CraftedWords, WhatIsNoZstdIsDamageAndTheNextFrameIsRead) {
  const auto reader = reader_of("no frame of zstd", false);
  EXPECT_EQ(causes(*reader, kDamagedPayload), 1u);
  EXPECT_EQ(reader->steps().size(), 1u);
  EXPECT_EQ(all_events(*reader).size(), 1u) << "the one behind it";
}

TEST_F(CraftedWords, ABombIsDamageAndNothingIsAllocatedForIt) {
  const std::string bomb = compressed_words(std::string(64 << 20, 'a'));
  ASSERT_LT(bomb.size(), 16'000u);
  const auto reader = reader_of(bomb, false);
  EXPECT_EQ(causes(*reader, kDamagedPayload), 1u);
  EXPECT_EQ(all_events(*reader).size(), 1u);
}

// The budget for what is read unasked counts what words say, not what they take.
TEST_F(CraftedWords, ContentIsBoundedByTheBudget) {
  std::string text = "[";
  for (int i = 0; text.size() < 60'000; ++i) text += std::to_string(i * 7919 % 100'000) + ",";
  ReadLimits limits;
  limits.scanned_bytes = {40'000, 0};
  const std::string packed = compressed_words(text);
  reader_of(packed, false);
  JournalReaderOptions options;
  options.live = false;
  options.budget = std::make_shared<ReadBudget>(limits);
  const auto reader = JournalReader::open(*storage_, sample_run_info(), "rank-00000", options);
  ASSERT_TRUE(reader.ok());
  EXPECT_LT(packed.size(), 40'000u) << "or this test shows nothing";
  EXPECT_EQ(causes(**reader, kOverBudget), 1u);
  EXPECT_EQ(all_events(**reader).size(), 1u) << "the one behind it";
}

}  // namespace
}  // namespace trainwarden::journal
