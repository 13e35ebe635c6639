// Operator calls in a journal: what goes in comes out by step; what is damaged or lost is counted.
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/log.h"
#include "data/format/frame.h"
#include "data/format/operators_record.h"
#include "store/journal/golden_run.h"
#include "store/journal/sample_run.h"
#include "store/storage/faulty_storage.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::journal {
namespace {

constexpr const char* kOnlySegment = "journal/rank-00000/seg-00000000.tw";

OperatorBatch large_operators(std::int64_t step) {
  OperatorBatch batch;
  batch.global_step = step;
  batch.mode = Mode::kEval;
  batch.names = {"aten::mul", "aten::add"};
  batch.tracks = {{"thread 1", 1, false}};
  for (std::uint32_t i = 0; i < format::kMaxCallsInFrame * 2 + 10; ++i) {
    batch.calls.push_back({i % 2, 0, OperatorKind::kOperator, 1'000 + i, 1, -1});
  }
  return batch;
}

class JournalOperatorsTest : public testing::Test {
 protected:
  std::unique_ptr<JournalReader> read(bool live = false) { return open_sample_reader(*storage_, live); }

  void write(std::size_t steps, bool seal) {
    const auto writer = open_sample_writer(*storage_, clock_);
    for (std::size_t step = 0; step < steps; ++step) {
      ASSERT_TRUE(writer->append_step(small_step(static_cast<std::int64_t>(step), step == 0)->batch()).ok());
      ASSERT_TRUE(writer->append_operators(golden_operators(step)).ok());
    }
    if (seal) {
      ASSERT_TRUE(writer->seal().ok());
    }
  }

  // The byte in the middle of the n-th frame of operator calls is another one.
  void damage(std::size_t wanted) {
    std::string content = storage_->content(kOnlySegment);
    std::size_t number = 0;
    for (std::size_t at = 0; at + format::kFrameHeaderBytes <= content.size();) {
      const auto header = format::decode_frame_header(as_bytes(content).subspan(at, format::kFrameHeaderBytes));
      ASSERT_TRUE(header.ok());
      if (header->kind == format::FrameKind::kOperators && number++ == wanted) {
        char& byte = content[at + format::kFrameHeaderBytes + header->payload_bytes / 2];
        byte = static_cast<char>(byte ^ 1);
        storage_->set_content(kOnlySegment, std::move(content));
        return;
      }
      at += header->frame_bytes();
    }
    FAIL() << "no such frame";
  }

  FakeClock clock_;
  std::unique_ptr<storage::MemoryStorage> storage_ = storage::create_memory_storage();
};

TEST_F(JournalOperatorsTest, EverythingComesBackByStep) {
  for (const bool sealed : {false, true}) {
    storage_ = storage::create_memory_storage();
    write(4, sealed);
    const auto reader = read();
    EXPECT_EQ(reader->operator_steps(), (std::vector<std::int64_t>{0, 1, 2, 3}));
    for (std::size_t step = 0; step < 4; ++step) {
      const auto batch = reader->operators(static_cast<std::int64_t>(step));
      ASSERT_TRUE(batch.ok()) << batch.status().to_string();
      EXPECT_EQ(*batch, golden_operators(step)) << step;
    }
    EXPECT_EQ(reader->operators(4).status().code(), Code::kNotFound);
    EXPECT_EQ(reader->steps().size(), 4u);
    ASSERT_TRUE(reader->verify_all().ok());
    EXPECT_TRUE(reader->losses().empty());
  }
}

TEST_F(JournalOperatorsTest, BatchesOfAStepAreOne) {
  const auto writer = open_sample_writer(*storage_, clock_);
  OperatorBatch early = golden_operators(2);
  OperatorBatch late = early;
  late.names.emplace_back("aten::relu");
  late.calls = {{5, 0, OperatorKind::kOperator, early.calls[0].start_unix_ns - 1, 3, -1}};
  late.memory = {{1, 7, 7, -1}};
  ASSERT_TRUE(writer->append_operators(early).ok());
  ASSERT_TRUE(writer->append_step(small_step(2, true)->batch()).ok());
  ASSERT_TRUE(writer->seal().ok());
  ASSERT_TRUE(writer->append_operators(late).ok());
  const auto reader = read();
  const auto both = reader->operators(2);
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both->names.size(), 6u);
  EXPECT_EQ(both->tracks, early.tracks);
  EXPECT_EQ(both->lost_calls, 4u);
  ASSERT_EQ(both->calls.size(), early.calls.size() + 1);
  EXPECT_EQ(both->names[both->calls[0].name], "aten::relu");
  EXPECT_EQ(both->memory.front().unix_ns, 1);
  EXPECT_TRUE(format::check_operators(*both).ok());
}

TEST_F(JournalOperatorsTest, AReaderBesideTheWriterSeesWhatIsNew) {
  const auto writer = open_sample_writer(*storage_, clock_);
  const auto reader = read(true);
  EXPECT_TRUE(reader->operator_steps().empty());
  ASSERT_TRUE(writer->append_operators(golden_operators(1)).ok());
  ASSERT_TRUE(reader->refresh().ok());
  EXPECT_EQ(reader->operator_steps(), std::vector<std::int64_t>{1});
  EXPECT_EQ(reader->operators(1).value_or({}), golden_operators(1));
  ASSERT_TRUE(writer->append_operators(golden_operators(3)).ok());
  ASSERT_TRUE(reader->refresh().ok());
  EXPECT_EQ(reader->operator_steps(), (std::vector<std::int64_t>{1, 3}));
}

TEST_F(JournalOperatorsTest, ADamagedFrameCostsItsCallsAndSaysSo) {
  const OperatorBatch batch = large_operators(5);
  {
    const auto writer = open_sample_writer(*storage_, clock_);
    ASSERT_TRUE(writer->append_operators(batch).ok());
    ASSERT_TRUE(writer->append_operators(golden_operators(1)).ok());
  }
  EXPECT_EQ(read()->operators(5).value_or({}), batch);
  damage(1);
  const auto reader = read();
  const auto found = reader->operators(5);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->calls.size(), format::kMaxCallsInFrame + 10);
  EXPECT_EQ(found->lost_calls, format::kMaxCallsInFrame);
  EXPECT_EQ(found->mode, Mode::kEval);
  ASSERT_EQ(reader->losses().size(), 1u);
  EXPECT_EQ(reader->operators(1).value_or({}), golden_operators(1));
}

TEST_F(JournalOperatorsTest, AStepOfWhichNothingCanBeReadIsDataLoss) {
  write(2, true);
  damage(1);
  const auto reader = read();
  EXPECT_EQ(reader->operators(1).status().code(), Code::kDataLoss);
  EXPECT_EQ(reader->losses().size(), 1u);
  EXPECT_EQ(reader->operators(0).value_or({}), golden_operators(0));
}

TEST_F(JournalOperatorsTest, ABatchThatIsNotAsItMustBeIsNotWritten) {
  const auto writer = open_sample_writer(*storage_, clock_);
  OperatorBatch batch = golden_operators(0);
  batch.calls[0].name = 99;
  EXPECT_EQ(writer->append_operators(batch).code(), Code::kInvalidArgument);
  EXPECT_TRUE(writer->append_operators(OperatorBatch()).ok());
  EXPECT_EQ(writer->written_bytes(), 0u);
}

// The n-th call of the storage fails, for n = 0, 1, 2, ...: what was acknowledged is there.
TEST_F(JournalOperatorsTest, WhatWasAcknowledgedStaysWhateverTheStorageDoes) {
  set_log_sink([](LogLevel, std::string_view) {});
  for (const bool short_write : {false, true}) {
    for (std::int64_t call = 0;; ++call) {
      ASSERT_LT(call, 100);
      storage_ = storage::create_memory_storage();
      const auto faulty = storage::create_faulty_storage(*storage_);
      faulty->set_plan({call, false, Code::kResourceExhausted, short_write});
      auto writer = JournalWriter::open(*faulty, clock_, sample_run_info(), sample_journal_options());
      if (!writer.ok()) continue;
      std::vector<std::size_t> acknowledged;
      for (std::size_t step = 0; step < 4; ++step) {
        if ((*writer)->append_operators(golden_operators(step)).ok()) acknowledged.push_back(step);
      }
      const auto reader = read();
      for (const std::size_t step : acknowledged) {
        EXPECT_EQ(reader->operators(static_cast<std::int64_t>(step)).value_or({}), golden_operators(step));
      }
      if (faulty->calls() <= call) break;
    }
  }
  set_log_sink({});
}

}  // namespace
}  // namespace trainwarden::journal
