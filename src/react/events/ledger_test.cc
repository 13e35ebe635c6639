#include "react/events/ledger.h"

#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <test_paths.h>

#include "core/base/folder_testing.h"
#include "store/journal/all_events.h"
#include "store/journal/journal_reader.h"
#include "store/storage/faulty_storage.h"
#include "store/storage/local_storage.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::events {
namespace {

using std::chrono::milliseconds;

journal::RunInfo sample_run() {
  journal::RunInfo run;
  run.id = "0123456789abcdef0123456789abcdef";
  run.created_unix_ns = 1'700'000'000'000'000'000;
  run.host = "node7";
  return run;
}

Event sample_event(int number) {
  Event event;
  event.key = fmt::format("run-training-{}", number);
  event.type = kStateChangeType;
  event.subject = "run";
  event.source = "/trainwarden/node7/runs/first";
  event.unix_ns = 1'700'000'000'000'000'000 + number;
  event.change = {ChangeKind::kRun, "", "InProgress/Starting", "InProgress/Training"};
  event.headline = fmt::format("change {}", number);
  event.data = {{"TrainingJobName", "first"}};
  return event;
}

DeliveryRecord sample_delivery(std::string subscription, std::uint64_t seq, DeliveryState state) {
  DeliveryRecord record;
  record.subscription = std::move(subscription);
  record.action = "file";
  record.seq = seq;
  record.state = state;
  return record;
}

const std::string kFirstSegment = "journal/ledger/seg-00000000.tw";

class LedgerTest : public ::testing::Test {
 protected:
  std::unique_ptr<Ledger> open() {
    auto ledger = Ledger::open(*storage_, clock_, run_);
    EXPECT_TRUE(ledger.ok()) << ledger.status().to_string();
    return ledger.ok() ? *std::move(ledger) : nullptr;
  }

  FakeClock clock_;
  const journal::RunInfo run_ = sample_run();
  std::unique_ptr<storage::MemoryStorage> storage_ = storage::create_memory_storage();
};

TEST_F(LedgerTest, NumbersItsEvents) {
  const auto ledger = open();
  EXPECT_EQ(ledger->last_seq(), 0u);
  const Event first = ledger->append(sample_event(1));
  const Event second = ledger->append(sample_event(2));
  EXPECT_EQ(first.seq, 1u);
  EXPECT_EQ(second.seq, 2u);
  EXPECT_EQ(second.id, run_.id + "-2");
  EXPECT_EQ(second.data.at("seq"), 2);
  EXPECT_EQ(second.data.at("change").at("to"), "InProgress/Training");
  EXPECT_EQ(ledger->last_seq(), 2u);
  EXPECT_EQ(ledger->event(1).headline, "change 1");
  EXPECT_EQ(ledger->storage(), storage_.get());
  EXPECT_TRUE(ledger->status().ok());
}

TEST_F(LedgerTest, IsReadAgain) {
  {
    const auto ledger = open();
    ledger->append(sample_event(1));
    ledger->record(sample_delivery("ops", 1, DeliveryState::kStarted));
    ledger->record(SubscribedRecord{"ops", "file", "", "", 1, 5});
    ledger->record_intake({{"watch-0", 4}});
  }
  {
    const auto ledger = open();
    ledger->append(sample_event(2));
    ledger->record(sample_delivery("ops", 1, DeliveryState::kDelivered));
    ledger->record(SubscribedRecord{"ops", "file", "elsewhere", "", 1, 6});
    ledger->record_intake({{"watch-0", 4}, {"watch-1", 2}});
  }
  const auto ledger = open();
  EXPECT_EQ(ledger->last_seq(), 2u);
  EXPECT_EQ(encode_event(ledger->event(2)), encode_event([&] {
              Event event = sample_event(2);
              event.seq = 2;
              event.id = run_.id + "-2";
              return event;
            }()));
  ASSERT_EQ(ledger->deliveries("ops").size(), 2u);
  EXPECT_EQ(ledger->deliveries("ops")[1].state, DeliveryState::kDelivered);
  EXPECT_TRUE(ledger->deliveries("other").empty());
  ASSERT_EQ(ledger->subscribed().size(), 1u);
  EXPECT_EQ(ledger->subscribed()[0].place, "elsewhere");
  EXPECT_EQ(ledger->intake(), (Intake{{"watch-0", 4}, {"watch-1", 2}}));
}

TEST_F(LedgerTest, PayloadIsTheCloudEvent) {
  const auto ledger = open();
  const Event event = ledger->append(sample_event(1));
  const auto reader = journal::JournalReader::open(*storage_, run_, kLedgerWriter, {});
  ASSERT_TRUE(reader.ok());
  const auto events = journal::all_events(**reader);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, format::FrameKind::kEvent);
  EXPECT_EQ(events[0].json, encode_event(event));
}

TEST_F(LedgerTest, IsReadWhileItIsKept) {
  EXPECT_TRUE(read_ledger(*storage_, run_)->events.empty());
  const auto ledger = open();
  ledger->append(sample_event(1));
  ledger->record(sample_delivery("ops", 1, DeliveryState::kStarted));
  const auto contents = read_ledger(*storage_, run_);
  ASSERT_TRUE(contents.ok());
  EXPECT_EQ(contents->events.size(), 1u);
  EXPECT_EQ(contents->deliveries.size(), 1u);
  EXPECT_EQ(contents->unreadable, 0u);
}

TEST_F(LedgerTest, HasOneKeeper) {
  const auto ledger = open();
  const auto second = Ledger::open(*storage_, clock_, run_);
  EXPECT_EQ(second.status().code(), Code::kAlreadyExists);
}

TEST_F(LedgerTest, WorksInMemory) {
  const auto ledger = Ledger::in_memory(clock_, run_);
  EXPECT_EQ(ledger->append(sample_event(1)).seq, 1u);
  ledger->record(sample_delivery("ops", 1, DeliveryState::kStarted));
  EXPECT_EQ(ledger->deliveries("ops").size(), 1u);
  EXPECT_EQ(ledger->storage(), nullptr);
  EXPECT_TRUE(ledger->status().ok());
}

// A keeper that was killed leaves its last frame cut off anywhere: what was there before is there, and the number of
// what was cut off is given again.
TEST_F(LedgerTest, SurvivesATornTail) {
  {
    const auto ledger = open();
    ledger->append(sample_event(1));
    ledger->append(sample_event(2));
    // Not sealed yet: as it is when the process is killed now.
    const std::string killed = storage_->content(kFirstSegment);
    const auto frames_end = killed.size();
    ledger->append(sample_event(3));
    const std::string whole = storage_->content(kFirstSegment);
    for (std::size_t size = frames_end; size < whole.size(); size += 16) {
      const auto other = storage::create_memory_storage();
      ASSERT_TRUE(other->create_folder("journal/ledger").ok());
      other->set_content(kFirstSegment, whole.substr(0, size));
      const auto reopened = Ledger::open(*other, clock_, run_);
      ASSERT_TRUE(reopened.ok());
      EXPECT_EQ((*reopened)->last_seq(), 2u) << size;
      EXPECT_EQ((*reopened)->append(sample_event(4)).seq, 3u);
      const auto contents = read_ledger(*other, run_);
      ASSERT_EQ(contents->events.size(), 3u);
      EXPECT_EQ(contents->events[2].headline, "change 4");
      EXPECT_EQ(contents->unreadable, size == frames_end ? 0u : 1u) << size;
    }
  }
}

TEST_F(LedgerTest, PutsAStandInWhereAnEventIsDamaged) {
  {
    const auto ledger = open();
    for (int i = 1; i <= 3; ++i) ledger->append(sample_event(i));
  }
  std::string content = storage_->content(kFirstSegment);
  const std::size_t place = content.find("change 2");
  ASSERT_NE(place, std::string::npos);
  content[place] ^= 1;
  storage_->set_content(kFirstSegment, content);
  const auto ledger = open();
  ASSERT_EQ(ledger->last_seq(), 3u);
  EXPECT_EQ(ledger->event(2).type, kLostType);
  EXPECT_EQ(ledger->event(2).id, run_.id + "-2");
  EXPECT_EQ(ledger->event(3).headline, "change 3");
  EXPECT_EQ(ledger->lost_events(), 1u);
  EXPECT_TRUE(decode_event(encode_event(ledger->event(2))).ok());
  EXPECT_GE(read_ledger(*storage_, run_)->unreadable, 1u);
  EXPECT_EQ(ledger->append(sample_event(4)).seq, 4u);
}

// Whatever call to the storage fails: events are there for the subscribers of this process, the failure is reported,
// and what a reader finds afterwards is a part of it without anything invented.
TEST_F(LedgerTest, TellsOfFailuresToWrite) {
  for (const bool short_write : {false, true}) {
    for (std::int64_t n = 0; n < 40; ++n) {
      const auto memory = storage::create_memory_storage();
      const auto faulty = storage::create_faulty_storage(*memory);
      faulty->set_plan({.fail_call = n, .short_write = short_write});
      auto opened = Ledger::open(*faulty, clock_, run_);
      if (!opened.ok()) {
        EXPECT_EQ(opened.status().code(), Code::kResourceExhausted);
        continue;
      }
      for (int i = 1; i <= 5; ++i) {
        (*opened)->append(sample_event(i));
        clock_.advance_ns(1'000'000'000);
      }
      EXPECT_EQ((*opened)->last_seq(), 5u);
      EXPECT_EQ((*opened)->event(5).headline, "change 5");
      const bool reported = !(*opened)->status().ok();
      opened->reset();
      const auto contents = read_ledger(*memory, run_);
      ASSERT_TRUE(contents.ok());
      std::uint64_t there = 0;
      for (std::size_t i = 0; i < contents->events.size(); ++i) {
        EXPECT_EQ(contents->events[i].seq, i + 1);
        if (contents->events[i].type == kLostType) continue;
        EXPECT_EQ(contents->events[i].headline, fmt::format("change {}", i + 1));
        ++there;
      }
      EXPECT_TRUE(there == 5 || reported) << n;
    }
  }
}

TEST_F(LedgerTest, OfAKilledProcessIsTakenByTheNext) {
  const TestFolder folder;
  const auto local = storage::open_local_storage(folder.path());
  for (int round = 1; round <= 3; ++round) {
    const auto ledger = Ledger::open(*local, clock_, run_);
    ASSERT_TRUE(ledger.ok()) << ledger.status().to_string();
    EXPECT_EQ((*ledger)->append(sample_event(round)).seq, static_cast<std::uint64_t>(round));
  }
}

// A ledger as the first version wrote it.
TEST_F(LedgerTest, ReadsTheGoldenOne) {
  const auto golden = storage::open_local_storage(TW_SOURCE_DIR "/testdata/golden/v1-ledger");
  const auto run = journal::read_run(*golden);
  ASSERT_TRUE(run.ok()) << run.status().to_string();
  const auto contents = read_ledger(*golden, *run);
  ASSERT_TRUE(contents.ok()) << contents.status().to_string();
  EXPECT_EQ(contents->unreadable, 0u);
  ASSERT_EQ(contents->events.size(), 2u);
  EXPECT_EQ(contents->events[0].key, "run-starting-1");
  EXPECT_EQ(contents->events[0].change.to, "InProgress/Starting");
  EXPECT_EQ(contents->events[1].type, kAlertType);
  EXPECT_EQ(contents->events[1].unix_ns, 1'700'000'001'000'000'001);
  EXPECT_EQ(contents->events[1].global_step, 120);
  EXPECT_EQ(contents->events[1].data.at("origin").at("journal"), "watch-0");
  ASSERT_EQ(contents->deliveries.size(), 2u);
  EXPECT_EQ(contents->deliveries[1].state, DeliveryState::kDelivered);
  EXPECT_EQ(contents->deliveries[1].answer, "204");
  ASSERT_EQ(contents->subscribed.size(), 1u);
  EXPECT_EQ(contents->intake, (Intake{{"watch-0", 2}}));
}

TEST_F(LedgerTest, WakesWhoWaits) {
  const auto ledger = open();
  std::jthread waiter([&](const std::stop_token& stop) {
    ledger->wait_after(0, milliseconds(60'000), stop);
    EXPECT_EQ(ledger->last_seq(), 1u);
  });
  ledger->append(sample_event(1));
  waiter.join();
  ledger->wait_after(0, milliseconds(60'000), {});  // is there already
}

TEST_F(LedgerTest, WakesWhoWaitsWhenSomebodyIntervenes) {
  const auto ledger = open();
  std::atomic<bool> woken = false;
  std::jthread waiter([&](const std::stop_token& stop) {
    ledger->wait_after(0, milliseconds(600'000), stop);
    woken = true;
  });
  while (!woken) {  // the waiter may not wait yet
    ledger->record(sample_delivery("ops", 1, DeliveryState::kRedriven));
    std::this_thread::yield();
  }
}

TEST_F(LedgerTest, LetsGoOfWhoWaits) {
  const auto ledger = open();
  std::jthread waiter([&](const std::stop_token& stop) { ledger->wait_after(0, milliseconds(600'000), stop); });
  waiter.request_stop();
  waiter.join();
  ledger->wait_after(0, milliseconds(1), {});
  EXPECT_EQ(ledger->last_seq(), 0u);
}

TEST_F(LedgerTest, TakesRecordsFromManyThreads) {
  {
    const auto ledger = open();
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        const std::string name = fmt::format("s{}", t);
        for (int i = 0; i < 50; ++i) {
          if (t == 0) ledger->append(sample_event(i));
          ledger->record(sample_delivery(name, 1, DeliveryState::kStarted));
          EXPECT_EQ(ledger->deliveries(name).size(), static_cast<std::size_t>(i + 1));
        }
      });
    }
  }
  const auto contents = read_ledger(*storage_, run_);
  ASSERT_TRUE(contents.ok());
  EXPECT_EQ(contents->events.size(), 50u);
  EXPECT_EQ(contents->deliveries.size(), 200u);
}

}  // namespace
}  // namespace trainwarden::events
