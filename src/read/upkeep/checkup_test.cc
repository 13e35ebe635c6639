#include "read/upkeep/checkup.h"

#include <algorithm>
#include <memory>

#include <gtest/gtest.h>

#include "core/base/bytes.h"
#include "core/base/crc32c.h"
#include "data/format/frame.h"
#include "data/format/segment_index.h"
#include "read/trial/run_testing.h"
#include "store/journal/golden_run.h"

namespace trainwarden::upkeep {
namespace {

constexpr const char* kSealedSegment = "journal/rank-00000/seg-00000000.tw";

std::shared_ptr<storage::MemoryStorage> golden() {
  return journal::load_golden_run();
}

std::vector<std::string> causes(const Checkup& checkup) {
  std::vector<std::string> list;
  for (const JournalCheckup& journal : checkup.journals) {
    for (const RunLoss& loss : journal.losses) {
      if (!loss.by_writer) list.push_back(loss.cause);
    }
  }
  return list;
}

Checkup examined(const std::shared_ptr<storage::MemoryStorage>& storage, int threads = 2) {
  auto checkup = examine(storage::Location(storage), {.threads = threads});
  EXPECT_TRUE(checkup.ok()) << checkup.status().to_string();
  return checkup.value_or({});
}

TEST(Checkup, AGoldenRunIsWholeAlthoughItsWriterDroppedThings) {
  const Checkup checkup = examined(golden());
  EXPECT_TRUE(checkup.whole());
  EXPECT_FALSE(checkup.healthy());
  ASSERT_EQ(checkup.journals.size(), 2u);
  EXPECT_EQ(checkup.journals[0].segments, 2u);
  EXPECT_EQ(checkup.journals[0].sealed, 1u);
  EXPECT_EQ(checkup.journals[0].steps, journal::golden_steps().size());
}

TEST(Checkup, EveryByteOfASealedSegmentThatMattersIsChecked) {
  const auto clean = golden();
  const std::string content = clean->content(kSealedSegment);
  // One byte of each frame's payload, wherever it lies.
  for (std::size_t offset = 0; offset < content.size();) {
    const auto header = format::decode_frame_header(as_bytes(content).subspan(offset, format::kFrameHeaderBytes));
    ASSERT_TRUE(header.ok());
    std::string damaged = content;
    damaged[offset + format::kFrameHeaderBytes] ^= 0x10;
    clean->set_content(kSealedSegment, damaged);
    const Checkup checkup = examined(clean);
    EXPECT_FALSE(checkup.whole()) << format::name(header->kind) << " at byte " << offset;
    damaged = content;
    damaged[offset + 9] ^= 0x10;  // of the header's own CRC
    clean->set_content(kSealedSegment, damaged);
    EXPECT_FALSE(examined(clean).whole()) << "header of " << format::name(header->kind) << " at byte " << offset;
    offset += header->frame_bytes();
  }
}

TEST(Checkup, DamageIsNamedOnceHoweverManyMeetIt) {
  const auto run = golden();
  const std::string path = "journal/rank-00000/seg-00000001.tw";
  std::string content = run->content(path);
  content.resize(content.size() - 100);
  run->set_content(path, content);
  EXPECT_EQ(causes(examined(run)), std::vector<std::string>{"torn tail"});
}

TEST(Checkup, AMissingSegmentAndOneThatIsAnotherAreFound) {
  const auto run = golden();
  run->set_content("journal/rank-00000/seg-00000003.tw", run->content(kSealedSegment));
  const auto found = causes(examined(run));
  EXPECT_NE(std::find(found.begin(), found.end(), "missing segment"), found.end());
  EXPECT_NE(std::find(found.begin(), found.end(), "segment that is not what its file name says"), found.end());
}

TEST(Checkup, AnIndexThatKnowsLessThanThereIsIsFound) {
  const auto run = golden();
  std::string content = run->content(kSealedSegment);
  // The index and the trailer are written anew, without the last frame before them.
  const auto trailer_at = content.size() - format::kTrailerFrameBytes;
  const auto trailer = format::decode_trailer(
      std::string_view(content).substr(trailer_at + format::kFrameHeaderBytes, format::kTrailerPayloadBytes));
  ASSERT_TRUE(trailer.ok());
  auto index_header =
      format::decode_frame_header(as_bytes(content).subspan(trailer->index_offset, format::kFrameHeaderBytes));
  ASSERT_TRUE(index_header.ok());
  auto index = format::decode_segment_index(
      as_bytes(content).subspan(trailer->index_offset + format::kFrameHeaderBytes, index_header->payload_bytes));
  ASSERT_TRUE(index.ok());
  ASSERT_EQ(index->frames.back().kind, format::FrameKind::kEvent);
  index->frames.pop_back();
  const auto frame = [&](format::FrameHeader header, const std::string& payload) {
    header.payload_bytes = payload.size();
    header.payload_crc = crc32c(as_bytes(payload));
    header.file_offset = content.size();
    const auto bytes = format::encode_frame_header(header);
    content += as_text(bytes);
    content += payload;
    content.resize(align_up(content.size(), format::kFrameAlignment));
  };
  auto trailer_header = format::decode_frame_header(as_bytes(content).subspan(trailer_at, format::kFrameHeaderBytes));
  ASSERT_TRUE(trailer_header.ok());
  content.resize(trailer->index_offset);
  const std::uint64_t index_at = content.size();
  frame(*index_header, format::encode_segment_index(*index));
  frame(*trailer_header, format::encode_trailer({index_at, static_cast<std::uint32_t>(index->frames.size())}));
  run->set_content(kSealedSegment, content);
  EXPECT_EQ(causes(examined(run)), std::vector<std::string>{"frame that the index does not know"});
}

TEST(Checkup, ALiveJournalsEndIsNoDamage) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("w", {1, 2, 3})}});
  run.add({.step = 1, .tensors = {kept("w", {4, 5, 6})}});
  auto checkup = examine(storage::Location(run.storage()));
  ASSERT_TRUE(checkup.ok());
  EXPECT_TRUE(checkup->healthy());
  EXPECT_TRUE(checkup->journals.at(0).live);
  EXPECT_EQ(checkup->journals.at(0).sealed, 0u);
}

TEST(Checkup, ProgressEndsWithAllBytes) {
  std::uint64_t last = 0;
  std::uint64_t all = 0;
  CheckupPlan plan;
  plan.threads = 2;
  plan.progress = [&](std::uint64_t done, std::uint64_t of) {
    EXPECT_GE(done, last);
    last = done;
    all = of;
  };
  ASSERT_TRUE(examine(storage::Location(golden()), plan).ok());
  EXPECT_GT(all, 0u);
  EXPECT_EQ(last, all);
}

TEST(Checkup, WhatIsNoRunIsNotFound) {
  const std::shared_ptr<storage::MemoryStorage> empty = storage::create_memory_storage();
  EXPECT_EQ(examine(storage::Location(empty)).status().code(), Code::kNotFound);
}

}  // namespace
}  // namespace trainwarden::upkeep
