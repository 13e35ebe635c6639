// Many journals that grow, and few files that may be open.
#include "store/journal/open_files.h"

#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "store/journal/sample_run.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::journal {
namespace {

constexpr int kJournals = 12;
constexpr std::size_t kMostOpen = 3;

class OpenFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    for (int rank = 0; rank < kJournals; ++rank) {
      JournalOptions options = sample_journal_options();
      options.writer = worker_name(rank);
      options.writer_id = static_cast<std::uint32_t>(rank);
      writers_.push_back(open_sample_writer(*storage_, clock_, options));
    }
    append(0);
    for (int rank = 0; rank < kJournals; ++rank) {
      JournalReaderOptions options;
      options.open_files = files_;
      auto reader = JournalReader::open(*storage_, sample_run_info(), worker_name(rank), options);
      ASSERT_TRUE(reader.ok()) << reader.status().to_string();
      readers_.push_back(std::move(*reader));
    }
  }

  void append(std::int64_t step) {
    for (const auto& writer : writers_) {
      ASSERT_TRUE(writer->append_step(small_step(step, step == 0)->batch()).ok());
    }
  }

  FakeClock clock_;
  const std::unique_ptr<storage::MemoryStorage> storage_ = storage::create_memory_storage();
  const std::shared_ptr<OpenFiles> files_ = std::make_shared<OpenFiles>(kMostOpen);
  std::vector<std::unique_ptr<JournalWriter>> writers_;
  std::vector<std::unique_ptr<JournalReader>> readers_;
};

TEST_F(OpenFilesTest, AllThatIsWrittenIsReadWithFewOpen) {
  for (std::int64_t step = 1; step < 4; ++step) {
    append(step);
    for (const auto& reader : readers_) {
      ASSERT_TRUE(reader->refresh().ok());
      EXPECT_LE(files_->size(), kMostOpen);
    }
  }
  for (std::size_t i = 0; i < 4; ++i) {
    for (const auto& reader : readers_) {
      ASSERT_EQ(reader->steps().size(), 4u);
      EXPECT_EQ(difference(*reader, i, small_step(static_cast<std::int64_t>(i), i == 0)->batch()), "");
      EXPECT_LE(files_->size(), kMostOpen);
      EXPECT_TRUE(reader->losses().empty());
    }
  }
}

TEST_F(OpenFilesTest, WhatIsOverIsClosed) {
  for (const auto& writer : writers_) ASSERT_TRUE(writer->seal().ok());
  for (const auto& reader : readers_) ASSERT_TRUE(reader->refresh().ok());
  EXPECT_EQ(files_->size(), 0u);
  EXPECT_EQ(difference(*readers_[5], 0, small_step(0, true)->batch()), "");
  EXPECT_EQ(files_->size(), 1u);
  readers_.clear();
  EXPECT_EQ(files_->size(), 0u);
}

}  // namespace
}  // namespace trainwarden::journal
