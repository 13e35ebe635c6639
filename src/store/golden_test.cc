// The golden run: the writer gives the same bytes as ever, and what was written long ago is still read.
//
// TRAINWARDEN_WRITE_GOLDEN=1 writes the files anew, see testdata/golden/README.md. That is for a new format version
// only: files of a version that was released are never changed.
#include "store/golden_run.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace trainwarden::store {
namespace {

TEST(GoldenTest, TheWriterGivesTheGoldenBytes) {
  const auto written = storage::create_memory_storage();
  write_golden_run(*written);
  if (std::getenv("TRAINWARDEN_WRITE_GOLDEN") != nullptr) {
    for (const std::string& file : golden_files()) {
      std::filesystem::create_directories(std::filesystem::path(golden_path(file)).parent_path());
      std::ofstream(golden_path(file), std::ios::binary) << written->content(file);
    }
  }
  const auto golden = load_golden_run();
  for (const std::string& file : golden_files()) {
    EXPECT_TRUE(written->content(file) == golden->content(file)) << file << " differs from the golden file";
  }
}

TEST(GoldenTest, TheGoldenRunReadsBack) {
  const auto golden = load_golden_run();
  EXPECT_EQ(read_run(*golden).value(), sample_run_info());
  EXPECT_EQ(list_journals(*golden).value(), (std::vector<std::string>{"rank-00000", "watch-0"}));
  const auto reader = open_sample_reader(*golden, false);
  const auto steps = golden_steps();
  ASSERT_EQ(reader->steps().size(), steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) EXPECT_EQ(difference(*reader, i, steps[i]->batch()), "");
  ASSERT_EQ(reader->events().size(), 2u);
  EXPECT_EQ(reader->events()[0].step, 2);
  EXPECT_EQ(reader->collections().size(), 2u);
  ASSERT_TRUE(reader->verify_all().ok());
  ASSERT_EQ(reader->losses().size(), 1u);
  EXPECT_EQ(reader->losses()[0].cause, "staging_full");
  EXPECT_EQ(reader->losses()[0].count, 6u);
}

TEST(GoldenTest, TheGoldenVerdictsReadBack) {
  const auto golden = load_golden_run();
  const auto reader = open_sample_reader(*golden, false, "watch-0");
  ASSERT_EQ(reader->events().size(), 2u);
  EXPECT_EQ(reader->events()[0].kind, format::FrameKind::kVerdict);
  EXPECT_EQ(reader->events()[1].json, R"({"action":"stop"})");
  EXPECT_TRUE(reader->steps().empty());
  EXPECT_TRUE(reader->losses().empty());
}

}  // namespace
}  // namespace trainwarden::store
