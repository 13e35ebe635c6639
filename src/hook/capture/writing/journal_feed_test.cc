#include "hook/capture/writing/journal_feed.h"

#include <gtest/gtest.h>

#include <functional>
#include <span>

#include "core/base/log.h"
#include "data/format/control_record.h"
#include "data/format/run_event.h"
#include "hook/capture/capture_testing.h"
#include "store/storage/forwarding_storage.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::capture {
namespace {

const Status kDiskFull(Code::kResourceExhausted, "disk full");

class JournalFeedTest : public testing::Test {
 protected:
  JournalFeedTest() {
    set_log_sink([](LogLevel, std::string_view) {});
  }
  ~JournalFeedTest() override { set_log_sink(nullptr); }

  std::unique_ptr<JournalFeed> feed(Durability durability = Durability::kNone,
                                    std::shared_ptr<storage::Storage> storage = nullptr) {
    changes_ = std::make_unique<CaptureChanges>(storage, HookOptions(), std::set<std::string>());
    return std::make_unique<JournalFeed>(journal_.create(), StopRequests(std::move(storage), {}), *changes_, durability,
                                         counter_, clock_, losses_);
  }
  // A step with one scalar and one name.
  std::unique_ptr<StagedStep> step(std::int64_t global_step) {
    auto staged = std::make_unique<StagedStep>(*staging_);
    staged->id.global_step = global_step;
    staged->scalars.push_back({.id = 1, .value = 0.5});
    staged->new_names.push_back({.id = 1, .name = "s" + std::to_string(global_step)});
    return staged;
  }

  // A part of a step with one tensor.
  std::unique_ptr<StagedStep> part(std::int64_t global_step, FormBits statistics) {
    auto staged = std::make_unique<StagedStep>(*staging_);
    staged->id.global_step = global_step;
    staged->is_part = true;
    staged->tensors.push_back({.id = 2,
                               .dtype = DType::kFloat32,
                               .shape = {4},
                               .data = std::as_bytes(std::span(kValues)),
                               .statistics = statistics});
    return staged;
  }

  static constexpr float kValues[] = {1, 2, 3, 4};
  const std::unique_ptr<StagingArea> staging_ = *StagingArea::create(std::size_t{1} << 20);
  FakeClock clock_;
  StepCounter counter_;
  SharedLossTally losses_;
  std::unique_ptr<CaptureChanges> changes_;
  FakeJournal journal_;
};

TEST_F(JournalFeedTest, WritesAndCounts) {
  const auto feed = this->feed();
  EXPECT_TRUE(feed->write(*step(3)).ok());
  ASSERT_EQ(journal_.batches().size(), 1u);
  EXPECT_EQ(journal_.batches()[0].global_step, 3);
  EXPECT_EQ(feed->written().scalars, 1u);
  EXPECT_TRUE(losses_.losses().empty());
}

TEST_F(JournalFeedTest, WhatCouldNotBeWrittenIsToldWithTheNextStep) {
  const auto feed = this->feed();
  journal_.fail_with(kDiskFull);
  EXPECT_EQ(feed->write(*step(0)).code(), Code::kResourceExhausted);
  EXPECT_FALSE(feed->write(*step(1)).ok());
  journal_.fail_with(Status());
  EXPECT_TRUE(feed->write(*step(2)).ok());
  const auto batches = journal_.batches();
  ASSERT_EQ(batches.size(), 1u);
  ASSERT_EQ(batches[0].losses.size(), 1u);
  EXPECT_EQ(batches[0].losses[0].cause, "write_failed");
  EXPECT_EQ(batches[0].losses[0].count, 2u);
  EXPECT_EQ(batches[0].losses[0].message, "step 0: resource exhausted: disk full");
  EXPECT_EQ(batches[0].new_names.size(), 3u) << "names of lost steps are written, too";
  EXPECT_EQ(losses_.losses().at(0).count, 2u);
  EXPECT_EQ(feed->written().scalars, 1u);
  EXPECT_TRUE(feed->write(*step(3)).ok());
  EXPECT_TRUE(journal_.batches()[1].losses.empty()) << "written once";
}

TEST_F(JournalFeedTest, WhatOnlyTheEndOfAStepCanWriteWaitsForIt) {
  const auto feed = this->feed();
  const auto first = part(0, kStatisticsBit);
  first->losses.add(LossCause::kStagingFull, 2, 80, [] { return "no room"; });
  EXPECT_TRUE(feed->write(*first).ok());
  EXPECT_TRUE(feed->write(*part(0, 0)).ok());
  EXPECT_EQ(feed->written().tensors, 0u) << "nobody sees them yet";
  ASSERT_EQ(journal_.parts().size(), 2u);
  EXPECT_TRUE(journal_.parts()[0].statistics.empty());
  EXPECT_TRUE(journal_.parts()[0].losses.empty());
  EXPECT_TRUE(feed->write(*step(0)).ok());
  ASSERT_EQ(journal_.batches().size(), 1u);
  EXPECT_EQ(journal_.batches()[0].statistics.size(), 1u);
  ASSERT_EQ(journal_.batches()[0].losses.size(), 1u);
  EXPECT_EQ(journal_.batches()[0].losses[0].count, 2u);
  EXPECT_EQ(feed->written().tensors, 2u);
  EXPECT_EQ(feed->written().tensor_bytes, 2 * sizeof kValues);
  EXPECT_EQ(feed->written().statistics, 1u);
}

TEST_F(JournalFeedTest, APartThatCannotBeWrittenTakesThoseBeforeItAlong) {
  const auto feed = this->feed();
  EXPECT_TRUE(feed->write(*part(0, 0)).ok());
  journal_.fail_with(kDiskFull);
  EXPECT_FALSE(feed->write(*part(0, 0)).ok());
  journal_.fail_with(Status());
  EXPECT_TRUE(feed->write(*part(0, 0)).ok());
  EXPECT_TRUE(feed->write(*step(0)).ok());
  ASSERT_EQ(journal_.batches().size(), 1u);
  ASSERT_EQ(journal_.batches()[0].losses.size(), 1u);
  EXPECT_EQ(journal_.batches()[0].losses[0].cause, "write_failed");
  EXPECT_EQ(journal_.batches()[0].losses[0].count, 2u);
  EXPECT_EQ(losses_.losses().at(0).count, 2u);
  EXPECT_EQ(losses_.losses().at(0).bytes, 2 * sizeof kValues);
  EXPECT_EQ(feed->written().tensors, 1u);
}

TEST_F(JournalFeedTest, AnEndThatCannotBeWrittenTakesItsPartsAlong) {
  const auto feed = this->feed();
  EXPECT_TRUE(feed->write(*part(0, 0)).ok());
  journal_.fail_with(kDiskFull);
  EXPECT_FALSE(feed->write(*step(0)).ok());
  journal_.fail_with(Status());
  EXPECT_TRUE(feed->write(*step(1)).ok());
  ASSERT_EQ(journal_.batches()[0].losses.size(), 1u);
  EXPECT_EQ(journal_.batches()[0].losses[0].count, 2u) << "a tensor and a scalar";
  EXPECT_EQ(feed->written().tensors, 0u);
}

TEST_F(JournalFeedTest, OtherCollectionsComeBetweenSteps) {
  const auto feed = this->feed();
  EXPECT_TRUE(feed->write(*part(0, 0)).ok());
  feed->enqueue("{}", std::vector<Collection>{{.name = "other"}});
  feed->tend(true);
  EXPECT_TRUE(journal_.collections().empty());
  EXPECT_TRUE(journal_.events().empty());
  EXPECT_TRUE(feed->write(*step(0)).ok());
  feed->tend(true);
  EXPECT_EQ(journal_.collections().size(), 1u);
  EXPECT_EQ(journal_.events().size(), 1u);
}

TEST_F(JournalFeedTest, LossesWithoutAFollowingStepAreToldAtTheEnd) {
  const auto feed = this->feed();
  journal_.fail_with(kDiskFull);
  EXPECT_FALSE(feed->write(*step(5)).ok());
  journal_.fail_with(Status());
  EXPECT_TRUE(feed->finish().ok());
  ASSERT_EQ(journal_.batches().size(), 1u);
  EXPECT_EQ(journal_.batches()[0].global_step, 5);
  EXPECT_TRUE(journal_.batches()[0].scalars.empty());
  EXPECT_EQ(journal_.batches()[0].losses.at(0).count, 1u);
  EXPECT_EQ(journal_.events().size(), 1u);
}

TEST_F(JournalFeedTest, TheEndIsWrittenAndSealed) {
  const auto feed = this->feed();
  EXPECT_TRUE(feed->finish().ok());
  ASSERT_EQ(journal_.events().size(), 1u);
  const auto end = format::decode_run_end(journal_.events()[0]);
  ASSERT_TRUE(end.ok() && end->has_value());
  EXPECT_FALSE((*end)->stopped);
  EXPECT_TRUE(journal_.sealed());
}

TEST_F(JournalFeedTest, AnEndThatCannotBeWrittenIsAnError) {
  const auto feed = this->feed();
  journal_.fail_with(kDiskFull);
  EXPECT_EQ(feed->finish().code(), Code::kResourceExhausted);
}

TEST_F(JournalFeedTest, IntervalSyncsOnceASecondAndOnlyWhatIsNew) {
  const auto feed = this->feed(Durability::kInterval);
  feed->tend(true);
  EXPECT_EQ(journal_.syncs(), 0) << "nothing was written";
  EXPECT_TRUE(feed->write(*step(0)).ok());
  feed->tend(true);
  EXPECT_EQ(journal_.syncs(), 1);
  EXPECT_TRUE(feed->write(*step(1)).ok());
  feed->tend(true);
  EXPECT_EQ(journal_.syncs(), 1);
  clock_.advance_ns(1'100'000'000);
  feed->tend(true);
  feed->tend(true);
  EXPECT_EQ(journal_.syncs(), 2);
}

TEST_F(JournalFeedTest, ASyncThatFailedIsALossOfTheRun) {
  const auto feed = this->feed(Durability::kInterval);
  journal_.fail_syncs_with(Status(Code::kUnavailable, "Input/output error"));
  EXPECT_TRUE(feed->write(*step(0)).ok());
  feed->tend(true);
  ASSERT_EQ(losses_.losses().size(), 1u);
  EXPECT_EQ(losses_.losses()[0].cause, LossCause::kSyncFailed);
  EXPECT_EQ(losses_.losses()[0].count, 1u);
  EXPECT_NE(losses_.losses()[0].first_message.find("Input/output error"), std::string::npos);

  journal_.fail_syncs_with(Status());
  EXPECT_TRUE(feed->write(*step(1)).ok());
  ASSERT_EQ(journal_.batches().size(), 2u);
  ASSERT_EQ(journal_.batches()[1].losses.size(), 1u) << "it is written with the next step";
  EXPECT_EQ(journal_.batches()[1].losses[0].cause, "sync_failed");
  EXPECT_TRUE(feed->write(*step(2)).ok());
  EXPECT_TRUE(journal_.batches()[2].losses.empty()) << "once";
}

TEST_F(JournalFeedTest, ASyncThatFailsAtTheEndInventsNoStep) {
  const auto feed = this->feed(Durability::kInterval);
  EXPECT_TRUE(feed->write(*step(0)).ok());
  journal_.fail_syncs_with(Status(Code::kUnavailable, "Input/output error"));
  EXPECT_EQ(feed->finish().code(), Code::kUnavailable);
  EXPECT_EQ(journal_.batches().size(), 1u);
  EXPECT_EQ(losses_.losses().size(), 1u);
}

TEST_F(JournalFeedTest, NoSyncsWhenTheSystemDecides) {
  const auto feed = this->feed(Durability::kNone);
  EXPECT_TRUE(feed->write(*step(0)).ok());
  feed->tend(true);
  EXPECT_TRUE(feed->finish().ok());
  EXPECT_EQ(journal_.syncs(), 0);
}

class JournalFeedStopTest : public JournalFeedTest {
 protected:
  void request(const std::string& key) {
    const format::StopRequest request{.key = key, .reason = "reason " + key, .requested_by = "user"};
    ASSERT_TRUE(storage_->create_folder(format::kControlFolder).ok());
    ASSERT_TRUE(
        storage_->put_if_absent(format::stop_request_path(key), as_bytes(format::encode_stop_request(request))).ok());
  }
  const std::shared_ptr<storage::Storage> storage_ = storage::create_memory_storage();
};

TEST_F(JournalFeedStopTest, AcceptsAndAcknowledgesEveryRequest) {
  const auto feed = this->feed(Durability::kNone, storage_);
  feed->tend(true);
  EXPECT_EQ(feed->stop(), nullptr);
  counter_.advance();
  counter_.advance();
  request("a");
  feed->tend(true);
  ASSERT_NE(feed->stop(), nullptr);
  EXPECT_EQ(feed->stop()->reason, "reason a");
  request("b");
  feed->tend(true);
  EXPECT_EQ(feed->stop()->reason, "reason a") << "the first one stays";
  EXPECT_TRUE(feed->finish().ok());
  const auto events = journal_.events();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_NE(events[0].find(R"("key":"a")"), std::string::npos);
  EXPECT_NE(events[0].find(R"("global_step":2)"), std::string::npos);
  EXPECT_NE(events[1].find(R"("key":"b")"), std::string::npos);
  const auto end = format::decode_run_end(events[2]);
  ASSERT_TRUE(end.ok() && end->has_value());
  EXPECT_TRUE((*end)->stopped);
  EXPECT_EQ((*end)->reason, "reason a");
}

TEST_F(JournalFeedStopTest, TheStopHoldsEvenWhileItCannotBeAcknowledged) {
  const auto feed = this->feed(Durability::kNone, storage_);
  journal_.fail_with(kDiskFull);
  request("a");
  feed->tend(true);
  EXPECT_NE(feed->stop(), nullptr);
  EXPECT_TRUE(journal_.events().empty());
  journal_.fail_with(Status());
  feed->tend(true);
  EXPECT_EQ(journal_.events().size(), 1u);
  feed->tend(true);
  EXPECT_EQ(journal_.events().size(), 1u);
}

TEST_F(JournalFeedStopTest, WhileBusyTheFolderIsNotReadAtEveryStep) {
  const auto feed = this->feed(Durability::kNone, storage_);
  feed->tend(false);
  request("a");
  feed->tend(false);
  EXPECT_EQ(feed->stop(), nullptr);
  clock_.advance_ns(3'000'000);
  feed->tend(false);
  EXPECT_NE(feed->stop(), nullptr);
}

// A storage in memory that calls `before_list` before each look at a folder.
class WatchedStorage final : public storage::ForwardingStorage {
 public:
  WatchedStorage() : WatchedStorage(storage::create_memory_storage()) {}
  std::function<void()> before_list = [] {};

  Result<std::vector<std::string>> list(const std::string& path) const override {
    before_list();
    return base_->list(path);
  }

 private:
  explicit WatchedStorage(std::unique_ptr<storage::Storage> base) : ForwardingStorage(*base), base_(std::move(base)) {}
  const std::unique_ptr<storage::Storage> base_;
};

// The two files appear between any two looks at the folder.
TEST_F(JournalFeedTest, WhoAsksForACheckpointAndThenForAStopIsHeardInThatOrder) {
  for (int moment = 0; moment < 6; ++moment) {
    const auto storage = std::make_shared<WatchedStorage>();
    ASSERT_TRUE(storage->create_folder(format::kControlFolder).ok());
    int looks = 0;
    storage->before_list = [&] {
      if (looks++ != moment) return;
      ASSERT_TRUE(storage
                      ->put_if_absent(format::checkpoint_request_path("c"),
                                      as_bytes(format::encode_checkpoint_request({.key = "c", .unix_ns = 1})))
                      .ok());
      ASSERT_TRUE(storage
                      ->put_if_absent(format::stop_request_path("s"),
                                      as_bytes(format::encode_stop_request({.key = "s", .unix_ns = 1})))
                      .ok());
    };
    CheckpointRequests checkpoints(storage, HookOptions(), EarlierCheckpoints(), clock_);
    checkpoints.offer();
    const auto feed = this->feed(Durability::kNone, storage);
    feed->look_for(checkpoints);
    for (int look = 0; look < 6 && feed->stop() == nullptr; ++look) {
      feed->tend(true);
      EXPECT_TRUE(feed->stop() == nullptr || checkpoints.any()) << "at look " << moment;
    }
    EXPECT_NE(feed->stop(), nullptr);
  }
}

}  // namespace
}  // namespace trainwarden::capture
