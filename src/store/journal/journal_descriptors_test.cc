// A journal in a program that closes all descriptors which it has not opened itself, and opens files of its own.
#include <filesystem>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "core/base/descriptor_testing.h"
#include "core/base/folder_testing.h"
#include "core/base/log.h"
#include "store/journal/run_folder.h"
#include "store/journal/sample_run.h"
#include "store/storage/local_storage.h"

namespace trainwarden::journal {
namespace {

class JournalDescriptorsTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    set_log_sink([](LogLevel, std::string_view) {});
    JournalOptions options = sample_journal_options();
    options.sync_each_step = GetParam();
    writer_ = open_sample_writer(*storage_, clock_, options);
  }
  void TearDown() override { set_log_sink({}); }

  Status append(std::int64_t step) { return writer_->append_step(small_step(step, step == 0)->batch()); }

  void expect_steps(const std::vector<std::int64_t>& steps) {
    const auto reader = open_sample_reader(*storage_, false);
    ASSERT_EQ(reader->steps().size(), steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      EXPECT_EQ(reader->steps()[i].global_step, steps[i]);
      EXPECT_EQ(difference(*reader, i, small_step(steps[i], false)->batch()), "");
    }
  }
  std::vector<std::uint64_t> segments() const { return *list_segments(*storage_, sample_journal_options().writer); }

  TestFolder folder_;
  FakeClock clock_;
  const std::unique_ptr<storage::Storage> storage_ = storage::open_local_storage(folder_.path());
  std::unique_ptr<JournalWriter> writer_;
};

TEST_P(JournalDescriptorsTest, ItsSegmentGoesOn) {
  ASSERT_TRUE(append(0).ok());
  ASSERT_TRUE(append(1).ok());
  const TakenNumbers taken(folder_.path());
  ASSERT_EQ(taken.size(), 2u) << "the segment, and the writer's lock";
  ASSERT_TRUE(append(2).ok());
  EXPECT_TRUE(storage_->locked(writer_lock(sample_journal_options().writer)));
  ASSERT_TRUE(append(3).ok());
  ASSERT_TRUE(writer_->seal().ok());
  writer_.reset();
  EXPECT_EQ(taken.touched(), "");
  EXPECT_TRUE(numbers_of(folder_.path()).empty());
  EXPECT_EQ(segments().size(), 1u);
  expect_steps({0, 1, 2, 3});
}

TEST_P(JournalDescriptorsTest, ASegmentThatIsGoneCostsTheStepAndTheNextOneIsStarted) {
  ASSERT_TRUE(append(0).ok());
  ASSERT_TRUE(writer_->change_collections({}).ok());
  ASSERT_TRUE(append(1).ok());
  const TakenNumbers taken(folder_.path());
  std::filesystem::remove(folder_.path() / journal_folder(sample_journal_options().writer) /
                          segment_file(segments()[1]));
  const Status lost = append(2);
  EXPECT_EQ(lost.code(), Code::kNotFound);
  EXPECT_NE(lost.message().find("the program has closed the descriptor"), std::string::npos) << lost.message();
  clock_.advance_ns(1'000'000'000);
  ASSERT_TRUE(append(3).ok());
  ASSERT_TRUE(writer_->seal().ok());
  writer_.reset();
  EXPECT_EQ(taken.touched(), "");
  expect_steps({0, 3});
}

INSTANTIATE_TEST_SUITE_P(Syncs, JournalDescriptorsTest, testing::Bool());

}  // namespace
}  // namespace trainwarden::journal
