// Segments with many records: their index has each list of records once, for all steps that hold the same.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "data/format/segment_index.h"
#include "store/journal/sample_run.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::journal {
namespace {

constexpr int kManySteps = 60;
constexpr const char* kManySegment = "journal/rank-00000/seg-00000000.tw";

// Sealed, in one segment; the steps that lack a scalar are every third.
std::unique_ptr<storage::MemoryStorage> write_many(int steps) {
  auto storage = storage::create_memory_storage();
  FakeClock clock;
  const auto writer = open_sample_writer(*storage, clock);
  for (int step = 0; step < steps; ++step) {
    clock.advance_ns(1'000'000);
    EXPECT_TRUE(writer->append_step(step_of_many_scalars(step, step == 0)->batch()).ok());
  }
  EXPECT_TRUE(writer->seal().ok());
  return storage;
}

std::string index_payload_of(const std::string& segment) {
  const auto trailer = format::decode_trailer(segment.substr(segment.size() - format::kTrailerPayloadBytes));
  EXPECT_TRUE(trailer.ok());
  const std::string rest = segment.substr(trailer.value_or({}).index_offset);
  const auto header = format::decode_frame_header(as_bytes(rest).first(format::kFrameHeaderBytes));
  EXPECT_TRUE(header.ok());
  return rest.substr(format::kFrameHeaderBytes, header.value_or({}).payload_bytes);
}

void expect_many(JournalReader& reader) {
  ASSERT_EQ(reader.steps().size(), static_cast<std::size_t>(kManySteps));
  for (int i = 0; i < kManySteps; ++i) {
    ASSERT_EQ(difference(reader, static_cast<std::size_t>(i), step_of_many_scalars(i, i == 0)->batch()), "") << i;
  }
}

TEST(SharedRecordsTest, TheIndexHasEachListOfRecordsOnce) {
  const std::string payload = index_payload_of(write_many(kManySteps)->content(kManySegment));
  const auto index = format::decode_segment_index(as_bytes(payload));
  ASSERT_TRUE(index.ok()) << index.status().to_string();
  EXPECT_EQ(index->layouts, (std::vector<std::uint32_t>{340, 341}));
  EXPECT_EQ(index->records.size(), 681u);
  EXPECT_EQ(index->steps[0].layout, index->steps[3].layout) << "although the first has a frame of names before them";
}

TEST(SharedRecordsTest, FewRecordsAreARowEach) {
  const std::string payload = index_payload_of(write_many(2)->content(kManySegment));
  const auto index = format::decode_segment_index(as_bytes(payload));
  ASSERT_TRUE(index.ok()) << index.status().to_string();
  EXPECT_TRUE(index->layouts.empty());
  EXPECT_EQ(index->records.size(), 681u);
}

TEST(SharedRecordsTest, TheIndexSaysWhatTheScanFinds) {
  const auto storage = write_many(kManySteps);
  std::string content = storage->content(kManySegment);
  const auto by_index = open_sample_reader(*storage, false);
  const auto unsealed = storage::create_memory_storage();
  content.resize(content.size() - format::kTrailerFrameBytes);
  unsealed->set_content(kManySegment, content);
  const auto by_scan = open_sample_reader(*unsealed, false);
  ASSERT_NO_FATAL_FAILURE(expect_many(*by_index));
  ASSERT_NO_FATAL_FAILURE(expect_many(*by_scan));
  for (std::size_t i = 0; i < static_cast<std::size_t>(kManySteps); ++i) {
    const auto indexed = by_index->records(i).value();
    const auto scanned = by_scan->records(i).value();
    ASSERT_TRUE(std::equal(indexed.begin(), indexed.end(), scanned.begin(), scanned.end())) << "step index " << i;
    const std::size_t like = i % 3 == 0 ? 0 : 1;
    EXPECT_EQ(by_index->layout(i).value(), by_index->layout(like).value()) << i;
    EXPECT_EQ(by_scan->layout(i).value(), by_scan->layout(like).value()) << i;
  }
}

TEST(SharedRecordsTest, ADamagedIndexIsReportedAndTakesNothingWithIt) {
  const auto storage = write_many(kManySteps);
  std::string content = storage->content(kManySegment);
  const std::size_t place = content.rfind("layout.records");
  ASSERT_NE(place, std::string::npos);
  content[place] = 'L';
  storage->set_content(kManySegment, content);
  const auto reader = open_sample_reader(*storage, false);
  ASSERT_NO_FATAL_FAILURE(expect_many(*reader));
  const auto losses = reader->losses();
  EXPECT_TRUE(std::any_of(losses.begin(), losses.end(), [](const RunLoss& loss) { return !loss.by_writer; }));
}

TEST(SharedRecordsTest, RecordsWhoseNamesAreLostAreCountedAtEachStep) {
  const auto storage = write_many(kManySteps);
  std::string content = storage->content(kManySegment);
  // A reader that knows no name has none of the scalars; bundles say their names themselves.
  const std::size_t place = content.find("{\"tensors\"");
  ASSERT_NE(place, std::string::npos);
  content[place] = '[';
  storage->set_content(kManySegment, content);
  const auto reader = open_sample_reader(*storage, false);
  ASSERT_EQ(reader->steps().size(), static_cast<std::size_t>(kManySteps));
  for (int i = 0; i < kManySteps; ++i) {
    EXPECT_EQ(difference(*reader, static_cast<std::size_t>(i), step_of_many_scalars(i, i == 0)->batch(), true), "");
    EXPECT_EQ(reader->records(static_cast<std::size_t>(i)).value().size(), 1u);
  }
}

}  // namespace
}  // namespace trainwarden::journal
