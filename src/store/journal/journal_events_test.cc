// Events of a journal: their texts come from the files, bit for bit, and only the newest are held in memory.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "store/journal/all_events.h"
#include "store/journal/recent_texts.h"
#include "store/journal/sample_run.h"
#include "store/storage/faulty_storage.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::journal {
namespace {

using format::FrameKind;

class JournalEventsTest : public testing::Test {
 protected:
  // Of some kilobytes each, so that most are not among the newest.
  static std::string text_of(int number) {
    return fmt::format(R"({{"type":"note","number":{},"text":"{}"}})", number, std::string(4000, 'x'));
  }
  void write(int count, const JournalOptions& options = sample_journal_options(), bool seal = false) {
    const auto writer = open_sample_writer(*storage_, clock_, options);
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(writer->append_event(i % 3 == 0 ? FrameKind::kVerdict : FrameKind::kEvent, i, text_of(i)).ok());
    }
    if (seal) {
      ASSERT_TRUE(writer->seal().ok());
    }
  }
  static void expect_all(JournalReader& reader, int count) {
    const auto events = all_events(reader);
    ASSERT_EQ(events.size(), static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
      EXPECT_EQ(events[i].json, text_of(i));
      EXPECT_EQ(events[i].step, i);
      EXPECT_EQ(events[i].kind, i % 3 == 0 ? FrameKind::kVerdict : FrameKind::kEvent);
    }
    EXPECT_TRUE(reader.losses().empty());
  }

  const FakeClock clock_;
  std::unique_ptr<storage::MemoryStorage> storage_ = storage::create_memory_storage();
};

TEST_F(JournalEventsTest, TextsAreReadWhereverTheyLie) {
  for (const bool sealed : {false, true}) {
    storage_ = storage::create_memory_storage();
    JournalOptions options = sample_journal_options();
    options.segment_bytes = 100'000;
    write(200, options, sealed);
    EXPECT_GT(list_segments(*storage_, "rank-00000").value().size(), 3u);
    const auto reader = open_sample_reader(*storage_, false);
    expect_all(*reader, 200);
    expect_all(*reader, 200);
  }
}

TEST_F(JournalEventsTest, WhoFollowsAJournalReadsNoTextTwice) {
  const auto writer = open_sample_writer(*storage_, clock_);
  const auto faulty = storage::create_faulty_storage(*storage_);
  const auto reader = open_sample_reader(*faulty, true);
  std::size_t seen = 0;
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(writer->append_event(FrameKind::kEvent, i, text_of(i)).ok());
    ASSERT_TRUE(reader->refresh().ok());
    const auto calls = faulty->calls();
    ASSERT_TRUE(reader
                    ->visit_events(seen,
                                   [&](std::size_t index, const EventEntry& event) {
                                     EXPECT_EQ(event.json, text_of(i));
                                     seen = index + 1;
                                   })
                    .ok());
    EXPECT_EQ(faulty->calls(), calls) << "the storage was asked for what had just been read";
  }
  EXPECT_EQ(seen, 200u);
}

TEST_F(JournalEventsTest, AStorageThatFailsForAMomentLosesNothing) {
  write(100, sample_journal_options(), true);
  const auto faulty = storage::create_faulty_storage(*storage_);
  const auto reader = open_sample_reader(*faulty, false);
  std::vector<std::size_t> given;
  const auto visit = [&](std::size_t index, const EventEntry&) { given.push_back(index); };
  faulty->set_plan({2, false, Code::kUnavailable, false});
  EXPECT_EQ(reader->visit_events(0, visit).code(), Code::kUnavailable);
  EXPECT_LT(given.size(), 100u);
  faulty->set_plan({});
  ASSERT_TRUE(reader->visit_events(given.size(), visit).ok());
  ASSERT_EQ(given.size(), 100u);
  for (std::size_t i = 0; i < given.size(); ++i) EXPECT_EQ(given[i], i);
  EXPECT_TRUE(reader->losses().empty());
}

TEST_F(JournalEventsTest, WhatIsDamagedAfterItWasFoundIsALossAndTheOthersCome) {
  write(100, sample_journal_options(), true);
  const auto reader = open_sample_reader(*storage_, false);
  std::string content = storage_->content("journal/rank-00000/seg-00000000.tw");
  content[content.find(R"("number":7,)")] = '?';
  storage_->set_content("journal/rank-00000/seg-00000000.tw", content);
  std::vector<std::size_t> given;
  ASSERT_TRUE(reader->visit_events(0, [&](std::size_t index, const EventEntry&) { given.push_back(index); }).ok());
  EXPECT_EQ(given.size(), 99u);
  EXPECT_EQ(given[7], 8u) << "the others keep their numbers";
  ASSERT_EQ(reader->losses().size(), 1u);
  EXPECT_EQ(reader->losses()[0].cause, "damaged payload");
}

TEST(RecentTexts, HoldTheNewestOnly) {
  RecentTexts texts;
  const std::string text(1000, 'x');
  for (std::size_t i = 0; i < 1000; ++i) texts.add(i, text);
  EXPECT_EQ(texts.find(0), nullptr);
  EXPECT_EQ(texts.find(1000), nullptr);
  std::size_t held = 0;
  for (std::size_t i = 0; i < 1000; ++i) held += texts.find(i) != nullptr ? 1 : 0;
  EXPECT_EQ(held, RecentTexts::kMaxBytes / 1000);
  EXPECT_NE(texts.find(999), nullptr);
  texts.add(5000, "later");
  EXPECT_EQ(texts.find(999), nullptr) << "those between were not given";
  EXPECT_EQ(*texts.find(5000), "later");
}

}  // namespace
}  // namespace trainwarden::journal
