// The golden run: the writer gives the same bytes as ever, and what was written long ago is still read.
//
// TRAINWARDEN_WRITE_GOLDEN=1 writes the files again, see testdata/golden/README.md. That is for a new format version
// only: files of a version that was released are never changed.
#include "store/journal/all_events.h"
#include "store/journal/golden_run.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "store/journal/sample_batches.h"

namespace trainwarden::journal {
namespace {

void expect_golden_bytes(Golden golden) {
  const auto written = storage::create_memory_storage();
  write_golden_run(*written, golden);
  if (std::getenv("TRAINWARDEN_WRITE_GOLDEN") != nullptr) {
    for (const std::string& file : golden_files(golden)) {
      const std::filesystem::path path = golden_path(file, golden);
      std::filesystem::create_directories(path.parent_path());
      std::ofstream(path, std::ios::binary) << written->content(file);
    }
  }
  const auto checked_in = load_golden_run(golden);
  for (const std::string& file : golden_files(golden)) {
    EXPECT_TRUE(written->content(file) == checked_in->content(file)) << file << " differs from the golden file";
  }
}

TEST(GoldenTest, TheWriterGivesTheGoldenBytes) {
  expect_golden_bytes(Golden::kFirst);
}

TEST(GoldenTest, TheWriterGivesTheGoldenBytesOfReductions) {
  expect_golden_bytes(Golden::kReductions);
}

TEST(GoldenTest, TheWriterGivesTheGoldenBytesOfSamples) {
  expect_golden_bytes(Golden::kSamples);
}

TEST(GoldenTest, TheWriterGivesTheGoldenBytesOfOperatorCalls) {
  expect_golden_bytes(Golden::kOperators);
}

TEST(GoldenTest, TheWriterGivesTheGoldenBytesOfSharedRecords) {
  expect_golden_bytes(Golden::kShared);
}

TEST(GoldenTest, TheGoldenSharedRecordsReadBack) {
  const auto golden = load_golden_run(Golden::kShared);
  const auto reader = open_sample_reader(*golden, false);
  const auto steps = golden_steps(Golden::kShared);
  ASSERT_EQ(reader->steps().size(), steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) EXPECT_EQ(difference(*reader, i, steps[i]->batch()), "");
  EXPECT_EQ(reader->layout(1).value(), reader->layout(2).value()) << "the index says that they hold the same";
  EXPECT_NE(reader->layout(0).value(), reader->layout(1).value());
  ASSERT_TRUE(reader->verify_all().ok());
  ASSERT_EQ(reader->losses().size(), 1u);
  EXPECT_EQ(reader->losses()[0].cause, "staging_full");
}

// Which bytes zstd gives is its own affair, and another version's may differ.
TEST(GoldenTest, TheGoldenCompressedRunReadsBack) {
  if (std::getenv("TRAINWARDEN_WRITE_GOLDEN") != nullptr) {
    const auto written = storage::create_memory_storage();
    write_golden_run(*written, Golden::kCompressed);
    for (const std::string& file : golden_files(Golden::kCompressed)) {
      const std::filesystem::path path = golden_path(file, Golden::kCompressed);
      std::filesystem::create_directories(path.parent_path());
      std::ofstream(path, std::ios::binary) << written->content(file);
    }
  }
  const auto golden = load_golden_run(Golden::kCompressed);
  EXPECT_EQ(read_run(*golden).value().format_version, 2);
  const auto reader = open_sample_reader(*golden, false);
  const auto steps = golden_steps(Golden::kCompressed);
  ASSERT_EQ(reader->steps().size(), steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) EXPECT_EQ(difference(*reader, i, steps[i]->batch()), "");
  ASSERT_EQ(reader->event_count(), 2u);
  ASSERT_TRUE(reader->verify_all().ok());
  ASSERT_EQ(reader->losses().size(), 1u);
  EXPECT_EQ(reader->losses()[0].cause, "staging_full");
  const auto plain = load_golden_run();
  for (const char* file : {"journal/rank-00000/seg-00000000.tw", "journal/rank-00000/seg-00000001.tw"}) {
    EXPECT_LT(golden->content(file).size(), plain->content(file).size()) << file;
  }
}

TEST(GoldenTest, TheGoldenOperatorCallsReadBack) {
  const auto golden = load_golden_run(Golden::kOperators);
  const auto reader = open_sample_reader(*golden, false);
  EXPECT_EQ(reader->operator_steps(), (std::vector<std::int64_t>{0, 1, 2, 3}));
  for (std::size_t step = 0; step < 4; ++step) {
    const auto batch = reader->operators(static_cast<std::int64_t>(step));
    ASSERT_TRUE(batch.ok()) << batch.status().to_string();
    EXPECT_EQ(*batch, golden_operators(step));
  }
  ASSERT_TRUE(reader->verify_all().ok());
  EXPECT_TRUE(reader->losses().empty());
}

TEST(GoldenTest, TheGoldenSamplesReadBack) {
  const auto golden = load_golden_run(Golden::kSamples);
  const auto reader = open_sample_reader(*golden, false);
  ASSERT_EQ(reader->steps().size(), golden_steps(Golden::kSamples).size());
  std::vector<SampleBatch> batches;
  for (std::size_t i = 0; i < reader->steps().size(); ++i) batches.push_back(golden_samples(i));
  expect_samples(*reader, batches);
  ASSERT_TRUE(reader->verify_all().ok());
  EXPECT_TRUE(reader->losses().empty());
}

TEST(GoldenTest, TheGoldenReductionsReadBack) {
  const auto golden = load_golden_run(Golden::kReductions);
  const auto reader = open_sample_reader(*golden, false);
  const auto steps = golden_steps(Golden::kReductions);
  ASSERT_EQ(reader->steps().size(), steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) EXPECT_EQ(difference(*reader, i, steps[i]->batch()), "");
  ASSERT_TRUE(reader->verify_all().ok());
  EXPECT_TRUE(reader->losses().empty());
}

TEST(GoldenTest, TheGoldenRunReadsBack) {
  const auto golden = load_golden_run();
  EXPECT_EQ(read_run(*golden).value(), sample_run_info());
  EXPECT_EQ(list_journals(*golden).value(), (std::vector<std::string>{"rank-00000", "watch-0"}));
  const auto reader = open_sample_reader(*golden, false);
  const auto steps = golden_steps();
  ASSERT_EQ(reader->steps().size(), steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) EXPECT_EQ(difference(*reader, i, steps[i]->batch()), "");
  ASSERT_EQ(reader->event_count(), 2u);
  EXPECT_EQ(all_events(*reader)[0].step, 2);
  EXPECT_EQ(reader->collections().size(), 2u);
  ASSERT_TRUE(reader->verify_all().ok());
  ASSERT_EQ(reader->losses().size(), 1u);
  EXPECT_EQ(reader->losses()[0].cause, "staging_full");
  EXPECT_EQ(reader->losses()[0].count, 6u);
}

TEST(GoldenTest, TheGoldenVerdictsReadBack) {
  const auto golden = load_golden_run();
  const auto reader = open_sample_reader(*golden, false, "watch-0");
  ASSERT_EQ(reader->event_count(), 2u);
  EXPECT_EQ(all_events(*reader)[0].kind, format::FrameKind::kVerdict);
  EXPECT_EQ(all_events(*reader)[1].json, R"({"action":"stop"})");
  EXPECT_TRUE(reader->steps().empty());
  EXPECT_TRUE(reader->losses().empty());
}

}  // namespace
}  // namespace trainwarden::journal
