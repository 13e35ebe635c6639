// Reading a journal while it is written: always a prefix, never damage that is only an unfinished write.
#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/log.h"
#include "data/format/segment_index.h"
#include "store/journal/all_events.h"
#include "store/journal/sample_run.h"
#include "store/storage/faulty_storage.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::journal {
namespace {

constexpr const char* kWriter = "rank-00000";

std::string segment_path(std::uint64_t number) {
  return journal_folder(kWriter) + "/" + segment_file(number);
}

// A copy of a journal that lags behind it by any number of bytes, as a reader may see it through caches and networks.
class LaggingCopy {
 public:
  explicit LaggingCopy(const storage::MemoryStorage& source) : source_(source) {
    EXPECT_TRUE(copy_->create_folder(journal_folder(kWriter)).ok());
  }

  // Takes over up to `bytes` of the first segment that is not whole yet. False when there was nothing to take.
  bool advance(std::size_t bytes) {
    const std::vector<std::uint64_t> numbers = list_segments(source_, kWriter).value();
    for (const std::uint64_t number : numbers) {
      const std::string content = source_.content(segment_path(number));
      auto& file = files_[number];
      if (!file) {
        file = copy_->create(segment_path(number)).value();
        return true;
      }
      if (file->bytes() == content.size()) continue;
      const std::string part = content.substr(file->bytes(), bytes);
      const ByteSpan parts[] = {as_bytes(part)};
      EXPECT_TRUE(file->append(parts).ok());
      return true;
    }
    return false;
  }

  storage::Storage& storage() { return *copy_; }

 private:
  const storage::MemoryStorage& source_;
  std::unique_ptr<storage::MemoryStorage> copy_ = storage::create_memory_storage();
  std::map<std::uint64_t, std::unique_ptr<storage::WritableFile>> files_;
};

// A writer that does this and that, and is now and then killed or let down by its disk.
class RandomWriter {
 public:
  RandomWriter(storage::Storage& storage, std::uint64_t seed)
      : random_(seed), faulty_(create_faulty_storage(storage)) {}

  void act() {
    if (!writer_) open();
    const std::uint64_t dice = random_() % 100;
    if (dice < 60) return append_step();
    if (dice < 75) return append_event();
    if (dice < 82) {
      (void)writer_->seal();
    } else if (dice < 88) {
      writer_.reset();
    } else if (dice < 94) {
      ++planned_faults;
      faulty_->set_plan(
          {static_cast<std::int64_t>(random_() % 4), false, Code::kResourceExhausted, random_() % 2 == 0});
    }
  }
  std::uint64_t roll(std::uint64_t below) { return random_() % below; }

  std::vector<std::int64_t> acknowledged_steps;
  std::size_t acknowledged_events = 0;
  std::size_t planned_faults = 0;

 private:
  void open() {
    JournalOptions options = sample_journal_options();
    options.segment_bytes = 4000 + random_() % 8000;
    auto opened = JournalWriter::open(*faulty_, clock_, sample_run_info(), options);
    while (!opened.ok()) opened = JournalWriter::open(*faulty_, clock_, sample_run_info(), options);
    writer_ = std::move(*opened);
    named_ = false;
  }
  void append_step() {
    const auto step = small_step(next_step_++, !named_);
    named_ = true;
    if (writer_->append_step(step->batch()).ok()) acknowledged_steps.push_back(step->batch().global_step);
  }
  void append_event() {
    if (writer_->append_event(format::FrameKind::kEvent, -1, "{}").ok()) ++acknowledged_events;
  }

  std::mt19937_64 random_;
  FakeClock clock_;
  std::unique_ptr<storage::FaultyStorage> faulty_;
  std::unique_ptr<JournalWriter> writer_;
  bool named_ = false;
  std::int64_t next_step_ = 0;
};

void expect_prefix(JournalReader& reader, const RandomWriter& writer) {
  const auto steps = reader.steps();
  ASSERT_LE(steps.size(), writer.acknowledged_steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) ASSERT_EQ(steps[i].global_step, writer.acknowledged_steps[i]);
  ASSERT_LE(all_events(reader).size(), writer.acknowledged_events);
  for (const RunLoss& loss : reader.losses()) {
    ASSERT_TRUE(loss.cause == "torn tail" || loss.cause == "data of a step without its end") << loss.cause;
  }
  if (writer.planned_faults == 0) {
    ASSERT_TRUE(reader.losses().empty());
  }
}

void expect_all(JournalReader& reader, const RandomWriter& writer) {
  ASSERT_EQ(reader.steps().size(), writer.acknowledged_steps.size());
  ASSERT_EQ(all_events(reader).size(), writer.acknowledged_events);
  for (std::size_t i = 0; i < reader.steps().size(); ++i) {
    ASSERT_EQ(difference(reader, i, small_step(writer.acknowledged_steps[i], false)->batch()), "");
  }
}

class LiveJournalTest : public testing::TestWithParam<std::uint64_t> {
 protected:
  void SetUp() override {
    set_log_sink([](LogLevel, std::string_view) {});
  }
  void TearDown() override { set_log_sink({}); }
};

TEST_P(LiveJournalTest, TheReaderAlwaysSeesAPrefix) {
  const auto storage = storage::create_memory_storage();
  RandomWriter writer(*storage, GetParam());
  LaggingCopy copy(*storage);
  auto lock = copy.storage().lock(writer_lock(kWriter));
  ASSERT_TRUE(lock.ok());
  const auto reader = open_sample_reader(copy.storage(), true);
  for (int turn = 0; turn < 400; ++turn) {
    if (writer.roll(3) == 0) writer.act();
    copy.advance(1 + writer.roll(writer.roll(2) == 0 ? 100 : 4000));
    if (writer.roll(2) == 0) {
      ASSERT_TRUE(reader->refresh().ok());
      ASSERT_NO_FATAL_FAILURE(expect_prefix(*reader, writer)) << "turn " << turn;
    }
  }
  while (copy.advance(1 << 20)) {
  }
  ASSERT_TRUE(reader->refresh().ok());
  ASSERT_NO_FATAL_FAILURE(expect_prefix(*reader, writer));
  ASSERT_NO_FATAL_FAILURE(expect_all(*reader, writer));
}

TEST_P(LiveJournalTest, TheIndexSaysWhatTheScanFinds) {
  const auto storage = storage::create_memory_storage();
  RandomWriter writer(*storage, GetParam());
  for (int turn = 0; turn < 150; ++turn) writer.act();
  const auto unsealed = storage::create_memory_storage();
  const std::vector<std::uint64_t> numbers = list_segments(*storage, kWriter).value();
  for (const std::uint64_t number : numbers) {
    std::string content = storage->content(segment_path(number));
    if (content.find("index_offset") != std::string::npos) content.resize(content.size() - format::kTrailerFrameBytes);
    unsealed->set_content(segment_path(number), content);
  }
  const auto by_index = open_sample_reader(*storage, false);
  const auto by_scan = open_sample_reader(*unsealed, false);
  ASSERT_NO_FATAL_FAILURE(expect_all(*by_index, writer));
  ASSERT_NO_FATAL_FAILURE(expect_all(*by_scan, writer));
  ASSERT_EQ(by_index->tensors().size(), by_scan->tensors().size());
  ASSERT_EQ(by_index->losses().size(), by_scan->losses().size());
  for (std::size_t i = 0; i < by_index->steps().size(); ++i) {
    const auto indexed = by_index->records(i).value();
    const auto scanned = by_scan->records(i).value();
    ASSERT_TRUE(std::equal(indexed.begin(), indexed.end(), scanned.begin(), scanned.end())) << "step index " << i;
    ASSERT_EQ(by_index->steps()[i].unix_ns, by_scan->steps()[i].unix_ns);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, LiveJournalTest, testing::Range(std::uint64_t{1}, std::uint64_t{41}));

class LiveTailTest : public testing::Test {
 protected:
  // The journal's first segment with half of another step behind two whole ones.
  void SetUp() override {
    const auto source = storage::create_memory_storage();
    const auto writer = open_sample_writer(*source, clock_);
    for (int step = 0; step < 2; ++step) ASSERT_TRUE(writer->append_step(small_step(step, step == 0)->batch()).ok());
    const std::size_t whole_bytes = writer->written_bytes();
    ASSERT_TRUE(writer->append_step(small_step(2, false)->batch()).ok());
    content_ = source->content(segment_path(0));
    storage_->set_content(segment_path(0), content_.substr(0, (whole_bytes + content_.size()) / 2));
  }

  FakeClock clock_;
  std::string content_;
  std::unique_ptr<storage::MemoryStorage> storage_ = storage::create_memory_storage();
};

TEST_F(LiveTailTest, AnUnfinishedTailIsNoLossWhileTheWriterLives) {
  auto lock = storage_->lock(writer_lock(kWriter));
  const auto reader = open_sample_reader(*storage_, true);
  EXPECT_EQ(reader->steps().size(), 2u);
  EXPECT_TRUE(reader->losses().empty());
  ASSERT_TRUE(reader->refresh().ok());
  EXPECT_TRUE(reader->losses().empty());

  lock.value().reset();
  ASSERT_TRUE(reader->refresh().ok());
  EXPECT_EQ(reader->steps().size(), 2u);
  EXPECT_FALSE(reader->losses().empty());
}

TEST_F(LiveTailTest, AnUnfinishedTailIsALossWhenANewerSegmentIsThere) {
  const auto lock = storage_->lock(writer_lock(kWriter));
  const auto reader = open_sample_reader(*storage_, true);
  storage_->set_content(segment_path(1), "");
  ASSERT_TRUE(reader->refresh().ok());
  EXPECT_FALSE(reader->losses().empty());
}

// A network file system may show a file's new length before its new bytes.
TEST_F(LiveTailTest, ATailThatIsStillZerosIsReadAgain) {
  const auto lock = storage_->lock(writer_lock(kWriter));
  std::string zeros = storage_->content(segment_path(0));
  zeros.resize(content_.size(), '\0');
  storage_->set_content(segment_path(0), zeros);
  const auto reader = open_sample_reader(*storage_, true);
  EXPECT_EQ(reader->steps().size(), 2u);
  storage_->set_content(segment_path(0), content_);
  ASSERT_TRUE(reader->refresh().ok());
  EXPECT_EQ(reader->steps().size(), 3u);
  EXPECT_TRUE(reader->losses().empty());
}

TEST_F(LiveTailTest, AnUnfinishedTailIsALossToTheStrictReader) {
  const auto lock = storage_->lock(writer_lock(kWriter));
  EXPECT_FALSE(open_sample_reader(*storage_, false)->losses().empty());
}

}  // namespace
}  // namespace trainwarden::journal
