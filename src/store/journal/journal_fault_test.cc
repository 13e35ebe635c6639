// Fault injection: the n-th call of the storage fails, for n = 0, 1, 2, ... until a run passes.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/log.h"
#include "store/journal/sample_run.h"
#include "store/storage/faulty_storage.h"
#include "store/storage/forwarding_storage.h"
#include "store/storage/lease.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::journal {
namespace {

constexpr int kSteps = 8;
constexpr int kMostCalls = 500;  // more than any run makes

JournalOptions fault_options(bool sync_each_step) {
  JournalOptions options = sample_journal_options();
  options.segment_bytes = 6000;  // a few steps
  options.sync_each_step = sync_each_step;
  return options;
}

struct Outcome {
  bool opened = false;
  std::set<std::int64_t> acknowledged;
};

// A training that goes on whatever the storage says.
Outcome write_steps(storage::Storage& storage, bool sync_each_step) {
  Outcome outcome;
  const FakeClock clock;
  auto writer = JournalWriter::open(storage, clock, sample_run_info(), fault_options(sync_each_step));
  if (!writer.ok()) return outcome;
  outcome.opened = true;
  for (int step = 0; step < kSteps; ++step) {
    if ((*writer)->append_step(small_step(step, step == 0)->batch()).ok()) outcome.acknowledged.insert(step);
  }
  (void)(*writer)->seal();
  return outcome;
}

void expect_acknowledged(const storage::Storage& storage, const Outcome& outcome, const std::string& what) {
  const auto reader = open_sample_reader(storage, false);
  std::set<std::int64_t> seen;
  for (std::size_t i = 0; i < reader->steps().size(); ++i) {
    const std::int64_t step = reader->steps()[i].global_step;
    seen.insert(step);
    EXPECT_EQ(difference(*reader, i, small_step(step, false)->batch()), "") << what;
  }
  EXPECT_TRUE(std::includes(seen.begin(), seen.end(), outcome.acknowledged.begin(), outcome.acknowledged.end()))
      << what << ": an acknowledged step is missing";
}

// short_write, fail_all_after, sync_each_step
class WriterFaultTest : public testing::TestWithParam<std::tuple<bool, bool, bool>> {
 protected:
  void SetUp() override {
    set_log_sink([](LogLevel, std::string_view) {});
  }
  void TearDown() override { set_log_sink({}); }
};

TEST_P(WriterFaultTest, AcknowledgedStepsStayAndTheWriterGoesOn) {
  const auto [short_write, fail_all_after, sync_each_step] = GetParam();
  int faults = 0;
  for (std::int64_t call = 0;; ++call) {
    ASSERT_LT(call, kMostCalls);
    const std::string what = "fault at call " + std::to_string(call);
    const auto memory = storage::create_memory_storage();
    const auto faulty = storage::create_faulty_storage(*memory);
    faulty->set_plan({call, fail_all_after, Code::kResourceExhausted, short_write});
    const Outcome outcome = write_steps(*faulty, sync_each_step);
    if (sync_each_step) memory->drop_unsynced();
    expect_acknowledged(*memory, outcome, what);
    if (faulty->calls() <= call) {
      EXPECT_EQ(outcome.acknowledged.size(), std::size_t{kSteps});
      break;
    }
    ++faults;
    // One fault costs one step at most: the next one goes into a new segment.
    if (outcome.opened && !fail_all_after) {
      EXPECT_GE(outcome.acknowledged.size(), std::size_t{kSteps - 1}) << what;
    }
  }
  EXPECT_GT(faults, kSteps);
}

INSTANTIATE_TEST_SUITE_P(Plans, WriterFaultTest, testing::Combine(testing::Bool(), testing::Bool(), testing::Bool()));

TEST(FailedSyncTest, TheNextStepGoesIntoANewSegment) {
  const auto memory = storage::create_memory_storage();
  const auto faulty = storage::create_faulty_storage(*memory);
  const FakeClock clock;
  const auto writer = open_sample_writer(*faulty, clock);
  ASSERT_TRUE(writer->append_step(small_step(0, true)->batch()).ok());
  faulty->set_plan({0, false, Code::kInternal, false});
  EXPECT_EQ(writer->sync().code(), Code::kInternal);
  ASSERT_TRUE(writer->append_step(small_step(1, false)->batch()).ok());
  EXPECT_EQ(list_segments(*memory, "rank-00000").value().size(), 2u);
  EXPECT_EQ(open_sample_reader(*memory, false)->steps().size(), 2u);
}

// A segment that could not be synced when it was sealed is none of the step that filled it; the next sync reports it.
TEST(FailedSyncTest, AFailureToSealIsToldByTheNextSync) {
  const auto memory = storage::create_memory_storage();
  const auto faulty = storage::create_faulty_storage(*memory);
  const FakeClock clock;
  JournalOptions options = fault_options(false);
  options.segment_bytes = 1;
  options.sync_each_segment = true;
  const auto writer = JournalWriter::open(*faulty, clock, sample_run_info(), options).value();
  constexpr std::int64_t kSync = 4;  // after create, append of the start, of the step and of the index
  faulty->set_plan({kSync, false, Code::kUnavailable, false});
  ASSERT_TRUE(writer->append_step(small_step(0, true)->batch()).ok());
  EXPECT_EQ(writer->sync().code(), Code::kUnavailable);
  EXPECT_TRUE(writer->sync().ok()) << "once";
}

// The segment is left for good: a sync of the next one must not be taken for one of what lies in this one.
TEST(FailedAppendTest, WhatWasAppendedBeforeIsSyncedAllTheSame) {
  const auto memory = storage::create_memory_storage();
  const auto faulty = storage::create_faulty_storage(*memory);
  const FakeClock clock;
  JournalOptions options = fault_options(false);
  options.sync_each_segment = true;
  const auto writer = JournalWriter::open(*faulty, clock, sample_run_info(), options).value();
  ASSERT_TRUE(writer->append_step(small_step(0, true)->batch()).ok());
  faulty->set_plan({0, false, Code::kResourceExhausted, true});
  EXPECT_EQ(writer->append_step(small_step(1, false)->batch()).code(), Code::kResourceExhausted);
  ASSERT_TRUE(writer->append_step(small_step(2, false)->batch()).ok());
  ASSERT_TRUE(writer->sync().ok());
  memory->drop_unsynced();
  const auto reader = open_sample_reader(*memory, false);
  ASSERT_EQ(reader->steps().size(), 2u);
  EXPECT_EQ(difference(*reader, 0, small_step(0, false)->batch()), "");
}

TEST(FailedAppendTest, ThatItCannotBeSyncedIsToldByTheNextSync) {
  const auto memory = storage::create_memory_storage();
  const auto faulty = storage::create_faulty_storage(*memory);
  const FakeClock clock;
  JournalOptions options = fault_options(false);
  options.sync_each_segment = true;
  const auto writer = JournalWriter::open(*faulty, clock, sample_run_info(), options).value();
  ASSERT_TRUE(writer->append_step(small_step(0, true)->batch()).ok());
  faulty->set_plan({0, true, Code::kUnavailable, true});
  EXPECT_EQ(writer->append_step(small_step(1, false)->batch()).code(), Code::kUnavailable);
  faulty->set_plan({});
  EXPECT_EQ(writer->sync().code(), Code::kUnavailable);
  EXPECT_TRUE(writer->sync().ok()) << "once";
}

TEST(FullDiskTest, IsNotLitteredWithSegmentsAndTheWriterComesBack) {
  const auto memory = storage::create_memory_storage();
  const auto faulty = storage::create_faulty_storage(*memory);
  FakeClock clock;
  const auto writer = open_sample_writer(*faulty, clock);
  ASSERT_TRUE(writer->append_step(small_step(0, true)->batch()).ok());
  faulty->set_plan({0, true, Code::kResourceExhausted, true});
  constexpr std::int64_t kStepNs = 10'000'000;
  for (int step = 1; step < 2000; ++step) {  // 20 s
    clock.advance_ns(kStepNs);
    EXPECT_EQ(writer->append_step(small_step(step, false)->batch()).code(), Code::kResourceExhausted);
  }
  EXPECT_LT(faulty->calls(), 30);
  faulty->set_plan({});
  clock.advance_ns(10'000'000'000);
  ASSERT_TRUE(writer->append_step(small_step(2000, false)->batch()).ok());
  const auto reader = open_sample_reader(*memory, false);
  ASSERT_EQ(reader->steps().size(), 2u);
  EXPECT_EQ(difference(*reader, 1, small_step(2000, false)->batch()), "");
}

// As a bucket.
class LocklessStorage final : public storage::ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;
  Result<std::unique_ptr<storage::Lock>> lock(const std::string&) override {
    return Status(Code::kUnimplemented, "this storage has no locks");
  }
  bool locked(const std::string&) const override { return false; }
};

// A process that was stopped for minutes goes on when another has taken its journal over.
TEST(TakenJournalTest, WhoWasTakenForDeadWritesNothingMore) {
  FakeClock clock;
  const auto memory = storage::create_memory_storage(clock);
  LocklessStorage storage(*memory);
  const auto open = [&] { return JournalWriter::open(storage, clock, sample_run_info(), sample_journal_options()); };
  const auto stopped = open();
  ASSERT_TRUE(stopped.ok());
  ASSERT_TRUE((*stopped)->append_step(small_step(0, true)->batch()).ok());
  ASSERT_EQ(open().status().code(), Code::kAlreadyExists);
  clock.advance_ns(70'000'000'000);
  const auto next = open();
  ASSERT_TRUE(next.ok()) << next.status().to_string();
  for (int i = 0; i < 2; ++i) {
    (*stopped)->beat();
    clock.advance_ns(storage::kLeaseBeatNs);
    (*next)->beat();
  }
  (*stopped)->beat();
  EXPECT_EQ((*stopped)->append_step(small_step(1, false)->batch()).code(), Code::kAlreadyExists);
  EXPECT_EQ((*stopped)->append_event(format::FrameKind::kEvent, 1, "{}").code(), Code::kAlreadyExists);
  EXPECT_TRUE((*next)->append_step(small_step(1, true)->batch()).ok());
  EXPECT_TRUE((*stopped)->seal().ok()) << "what it had written before is whole";
  EXPECT_TRUE((*next)->seal().ok());
  const auto reader = open_sample_reader(*memory, false);
  EXPECT_EQ(reader->steps().size(), 2U);
  EXPECT_TRUE(reader->losses().empty());
}

TEST(ReaderFaultTest, AFailedReadIsAnErrorAndTheNextRefreshMakesItGood) {
  const auto memory = storage::create_memory_storage();
  write_steps(*memory, false);
  {
    const FakeClock clock;
    const auto writer = open_sample_writer(*memory, clock);  // an unsealed segment at the end
    ASSERT_TRUE(writer->append_step(small_step(kSteps, true)->batch()).ok());
  }
  const auto faulty = storage::create_faulty_storage(*memory);
  for (std::int64_t call = 0;; ++call) {
    ASSERT_LT(call, kMostCalls);
    faulty->set_plan({call, false, Code::kUnavailable, false});
    auto opened = JournalReader::open(*faulty, sample_run_info(), "rank-00000", {.live = false});
    if (!opened.ok()) {
      EXPECT_EQ(opened.status().code(), Code::kUnavailable) << "call " << call;
      faulty->set_plan({});
      opened = JournalReader::open(*faulty, sample_run_info(), "rank-00000", {.live = false});
    }
    ASSERT_TRUE(opened.ok());
    ASSERT_EQ((*opened)->steps().size(), std::size_t{kSteps + 1});
    for (std::size_t i = 0; i < (*opened)->steps().size(); ++i) {
      const auto step = small_step(static_cast<std::int64_t>(i), false);
      const bool good = difference(**opened, i, step->batch()).empty();  // unless the fault comes here
      EXPECT_TRUE(good || difference(**opened, i, step->batch()).empty()) << "call " << call << ", step " << i;
    }
    EXPECT_TRUE((*opened)->losses().empty()) << "call " << call;
    if (faulty->calls() <= call) break;
  }
}

// Also when the segment, half of which was read, is sealed meanwhile.
TEST(ReaderFaultTest, ARefreshThatFailedTakesNothingTwice) {
  for (std::int64_t call = 0;; ++call) {
    ASSERT_LT(call, kMostCalls);
    const auto memory = storage::create_memory_storage();
    const auto faulty = storage::create_faulty_storage(*memory);
    const auto reader = open_sample_reader(*faulty, true);
    write_steps(*memory, false);
    const FakeClock clock;
    const auto writer = open_sample_writer(*memory, clock);
    for (int step = kSteps; step < 2 * kSteps; ++step) {
      ASSERT_TRUE(writer->append_step(small_step(step, step == kSteps)->batch()).ok());
    }
    faulty->set_plan({call, false, Code::kUnavailable, false});
    const bool failed = !reader->refresh().ok();
    faulty->set_plan({});
    ASSERT_TRUE(writer->seal().ok());
    ASSERT_TRUE(reader->refresh().ok());
    ASSERT_EQ(reader->steps().size(), std::size_t{2 * kSteps}) << "call " << call;
    for (int step = 0; step < 2 * kSteps; ++step) EXPECT_EQ(reader->steps()[step].global_step, step);
    EXPECT_TRUE(reader->losses().empty());
    if (!failed) break;
  }
}

}  // namespace
}  // namespace trainwarden::journal
