// Reading a journal over a file system that shows what another machine writes late: names, lengths and bytes.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "store/journal/sample_run.h"
#include "store/storage/forwarding_storage.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::journal {
namespace {

std::string path_of_segment(std::uint64_t number) {
  return journal_folder("rank-00000") + "/" + segment_file(number);
}

// What is open keeps the length that it had then.
class FileOfOldLength final : public storage::ReadableFile {
 public:
  explicit FileOfOldLength(std::unique_ptr<storage::ReadableFile> base)
      : base_(std::move(base)), bytes_(base_->bytes().value_or(0)) {}
  Result<std::size_t> read_at(std::uint64_t offset, MutableByteSpan destination) const override {
    if (offset >= bytes_) return std::size_t{0};
    return base_->read_at(offset, destination.first(std::min<std::uint64_t>(destination.size(), bytes_ - offset)));
  }
  Result<std::uint64_t> bytes() const override { return bytes_; }

 private:
  const std::unique_ptr<storage::ReadableFile> base_;
  const std::uint64_t bytes_;
};

class LaggingStorage final : public storage::ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;
  std::set<std::string> unlisted;  // names that lists leave out
  std::set<std::string> unopened;  // paths that are not found yet
  bool keeps_length = false;

  Result<std::vector<std::string>> list(const std::string& path) const override {
    TRAINWARDEN_ASSIGN_OR_RETURN(std::vector<std::string> names, base().list(path));
    std::erase_if(names, [&](const std::string& name) { return unlisted.contains(name); });
    return names;
  }
  Result<std::unique_ptr<storage::ReadableFile>> open(const std::string& path) const override {
    if (unopened.contains(path)) return Status(Code::kNotFound, path);
    TRAINWARDEN_ASSIGN_OR_RETURN(auto file, base().open(path));
    if (!keeps_length) return file;
    return std::unique_ptr<storage::ReadableFile>(std::make_unique<FileOfOldLength>(std::move(file)));
  }
  bool exists(const std::string& path) const override { return !unopened.contains(path) && base().exists(path); }
};

class LaggingStorageTest : public testing::Test {
 protected:
  std::unique_ptr<JournalWriter> open_writer() { return open_sample_writer(*memory_, clock_); }
  static void append(JournalWriter& writer, std::int64_t step, bool with_names) {
    ASSERT_TRUE(writer.append_step(small_step(step, with_names)->batch()).ok());
  }
  static void expect_steps(JournalReader& reader, std::int64_t count) {
    ASSERT_EQ(reader.steps().size(), static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
      EXPECT_EQ(difference(reader, static_cast<std::size_t>(i), small_step(i, false)->batch()), "");
    }
    EXPECT_TRUE(reader.losses().empty());
  }

  FakeClock clock_;
  const std::unique_ptr<storage::MemoryStorage> memory_ = storage::create_memory_storage();
  LaggingStorage lagging_{*memory_};
};

TEST_F(LaggingStorageTest, SegmentsThatAListLeavesOutAreFoundByName) {
  const auto writer = open_writer();
  for (int step = 0; step < 4; ++step) {
    append(*writer, step, step == 0);
    ASSERT_TRUE(writer->seal().ok());
  }
  lagging_.unlisted = {segment_file(0), segment_file(2)};
  const auto reader = open_sample_reader(lagging_, true);
  expect_steps(*reader, 4);
}

TEST_F(LaggingStorageTest, ASegmentThatIsListedAndNotThereYetIsWaitedFor) {
  const auto writer = open_writer();
  append(*writer, 0, true);
  ASSERT_TRUE(writer->seal().ok());
  append(*writer, 1, false);
  lagging_.unopened = {path_of_segment(0)};
  const auto reader = open_sample_reader(lagging_, true);
  EXPECT_TRUE(reader->steps().empty()) << "what comes later must not come first";
  EXPECT_TRUE(reader->losses().empty());
  lagging_.unopened.clear();
  ASSERT_TRUE(reader->refresh().ok());
  expect_steps(*reader, 2);
}

TEST_F(LaggingStorageTest, ASegmentThatNobodyWritesAndIsNotThereIsALoss) {
  auto writer = open_writer();
  append(*writer, 0, true);
  writer.reset();
  lagging_.unopened = {path_of_segment(0)};
  EXPECT_FALSE(open_sample_reader(lagging_, true)->losses().empty());
}

TEST_F(LaggingStorageTest, TheLengthOfAFileIsAskedForAgainBeforeItIsLeft) {
  const auto writer = open_writer();
  append(*writer, 0, true);
  lagging_.keeps_length = true;
  const auto reader = open_sample_reader(lagging_, true);
  append(*writer, 1, false);
  ASSERT_TRUE(reader->refresh().ok());
  EXPECT_EQ(reader->steps().size(), 1u) << "or this tests nothing";
  ASSERT_TRUE(writer->seal().ok());
  append(*writer, 2, false);
  ASSERT_TRUE(reader->refresh().ok());
  expect_steps(*reader, 3);
}

TEST_F(LaggingStorageTest, SoIsThatOfAFileThatWasEmptyWhenItWasOpened) {
  const auto source = storage::create_memory_storage();
  {
    const auto writer = open_sample_writer(*source, clock_);
    append(*writer, 0, true);
  }
  const auto lock = memory_->lock(writer_lock("rank-00000"));
  memory_->set_content(path_of_segment(0), "");
  lagging_.keeps_length = true;
  const auto reader = open_sample_reader(lagging_, true);
  EXPECT_TRUE(reader->steps().empty());
  memory_->set_content(path_of_segment(0), source->content(path_of_segment(0)));
  memory_->set_content(path_of_segment(1), "");
  ASSERT_TRUE(reader->refresh().ok());
  expect_steps(*reader, 1);
}

// Bytes come in any order: those of a later step before those of an earlier one.
TEST_F(LaggingStorageTest, ZerosInTheMidstAreWaitedForWhileSomebodyWrites) {
  std::vector<std::size_t> ends;
  std::string whole;
  {
    const auto writer = open_writer();
    for (int step = 0; step < 3; ++step) {
      append(*writer, step, step == 0);
      ends.push_back(writer->written_bytes());
    }
    whole = memory_->content(path_of_segment(0));
  }
  auto lock = memory_->lock(writer_lock("rank-00000"));
  for (std::size_t begin = 0; begin < ends[1]; begin += 64) {
    for (const std::size_t end : {ends[0], ends[1]}) {
      if (begin >= end) continue;
      std::string holed = whole;
      std::fill(holed.begin() + static_cast<std::ptrdiff_t>(begin), holed.begin() + static_cast<std::ptrdiff_t>(end),
                0);
      memory_->set_content(path_of_segment(0), holed);
      const auto reader = open_sample_reader(*memory_, true);
      for (std::size_t i = 0; i < reader->steps().size(); ++i) {
        const std::string what = difference(*reader, i, small_step(static_cast<std::int64_t>(i), false)->batch());
        EXPECT_TRUE(what.empty() || what.find("has not come whole yet") != std::string::npos) << what;
      }
      ASSERT_TRUE(reader->losses().empty()) << "zeros from " << begin << " to " << end;
      memory_->set_content(path_of_segment(0), whole);
      ASSERT_TRUE(reader->refresh().ok());
      ASSERT_NO_FATAL_FAILURE(expect_steps(*reader, 3)) << "zeros from " << begin << " to " << end;
    }
  }
}

TEST_F(LaggingStorageTest, ZerosThatNobodyFillsAreALoss) {
  std::string content;
  std::size_t end = 0;
  {
    const auto writer = open_writer();
    append(*writer, 0, true);
    end = writer->written_bytes();
    append(*writer, 1, false);
    content = memory_->content(path_of_segment(0));
  }
  std::fill(content.begin(), content.begin() + static_cast<std::ptrdiff_t>(end), 0);
  memory_->set_content(path_of_segment(0), content);
  auto lock = memory_->lock(writer_lock("rank-00000"));
  const auto reader = open_sample_reader(*memory_, true);
  EXPECT_TRUE(reader->losses().empty());
  lock.value().reset();
  ASSERT_TRUE(reader->refresh().ok());
  EXPECT_FALSE(reader->losses().empty());
  EXPECT_EQ(reader->steps().size(), 1u) << "what lies behind is read all the same";
}

// A reader whose clock is wrong takes a writer for gone that is not. What it writes then is not lost on the reader.
TEST_F(LaggingStorageTest, AWriterThatWasTakenForGoneIsReadOn) {
  std::string whole;
  std::size_t end = 0;
  {
    const auto writer = open_writer();
    append(*writer, 0, true);
    end = writer->written_bytes();
    append(*writer, 1, false);
    append(*writer, 2, false);
    whole = memory_->content(path_of_segment(0));
  }
  memory_->set_content(path_of_segment(0), whole.substr(0, end + 1000));
  const auto reader = open_sample_reader(*memory_, true);
  EXPECT_EQ(reader->steps().size(), 1u);
  const std::size_t told = reader->losses().size();
  EXPECT_GT(told, 0u) << "half of a step";
  memory_->set_content(path_of_segment(0), whole);
  ASSERT_TRUE(reader->refresh().ok());
  ASSERT_EQ(reader->steps().size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(difference(*reader, i, small_step(static_cast<std::int64_t>(i), false)->batch()), "");
  }
  EXPECT_EQ(reader->losses().size(), told);
}

}  // namespace
}  // namespace trainwarden::journal
