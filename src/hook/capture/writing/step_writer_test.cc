#include "hook/capture/writing/step_writer.h"

#include <gtest/gtest.h>

#include <chrono>

#include "core/base/log.h"
#include "hook/capture/capture_testing.h"

namespace trainwarden::capture {
namespace {

using std::chrono::milliseconds;
constexpr std::chrono::seconds kLong{30};

class StepWriterTest : public testing::Test {
 protected:
  StepWriterTest() {
    set_log_sink([](LogLevel, std::string_view) {});
    EXPECT_TRUE(writer_.start().ok());
  }
  ~StepWriterTest() override {
    journal_.release();
    set_log_sink(nullptr);
  }

  bool submit(std::int64_t global_step) {
    auto step = std::make_unique<StagedStep>(*staging_);
    step->id.global_step = global_step;
    step->scalars.push_back({.id = 0, .value = 1});
    return writer_.submit(step, false);
  }

  const std::unique_ptr<StagingArea> staging_ = *StagingArea::create(std::size_t{1} << 20);
  StepCounter counter_;
  SharedLossTally losses_;
  FakeJournal journal_;
  CaptureChanges changes_{nullptr, HookOptions(), {}};
  StepWriter writer_{std::make_unique<JournalFeed>(journal_.create(), StopRequests(nullptr, {}), changes_,
                                                   Durability::kNone, counter_, system_clock(), losses_)};
};

TEST_F(StepWriterTest, StepsAreWrittenInOrder) {
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(submit(i));
  EXPECT_TRUE(writer_.flush(kLong).ok());
  const auto batches = journal_.batches();
  ASSERT_EQ(batches.size(), 50u);
  for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(batches[i].global_step, static_cast<std::int64_t>(i));
  EXPECT_TRUE(writer_.finish(nullptr, kLong).ok());
}

TEST_F(StepWriterTest, FlushWaitsNoLongerThanTold) {
  journal_.hold();
  EXPECT_TRUE(submit(0));
  journal_.wait_until_held();
  const Status status = writer_.flush(milliseconds(5));
  EXPECT_EQ(status.code(), Code::kDeadlineExceeded);
  EXPECT_EQ(status.message(), "1 steps, or parts of steps, still wait to be written");
  journal_.release();
  EXPECT_TRUE(writer_.flush(kLong).ok());
  EXPECT_TRUE(writer_.finish(nullptr, kLong).ok());
}

TEST_F(StepWriterTest, FlushSaysOnceThatAStepWasNotWritten) {
  journal_.fail_with(Status(Code::kResourceExhausted, "disk full"));
  EXPECT_TRUE(submit(0));
  EXPECT_EQ(writer_.flush(kLong).code(), Code::kResourceExhausted);
  journal_.fail_with(Status());
  EXPECT_TRUE(submit(1));
  EXPECT_TRUE(writer_.flush(kLong).ok());
  EXPECT_TRUE(writer_.finish(nullptr, kLong).ok());
}

TEST_F(StepWriterTest, AFullQueueRefuses) {
  journal_.hold();
  EXPECT_TRUE(submit(0));
  journal_.wait_until_held();
  for (std::size_t i = 0; i < StepWriter::kMaxWaitingSteps; ++i) EXPECT_TRUE(submit(1));
  EXPECT_FALSE(submit(2));
  journal_.release();
  EXPECT_TRUE(writer_.finish(nullptr, kLong).ok());
  EXPECT_EQ(journal_.batches().size(), StepWriter::kMaxWaitingSteps + 1);
}

TEST_F(StepWriterTest, MemoryIsFreeWhenAStepIsWritten) {
  auto step = std::make_unique<StagedStep>(*staging_);
  ASSERT_TRUE(step->share.allocate(1000).has_value());
  step->scalars.push_back({.id = 0, .value = 1});
  EXPECT_TRUE(writer_.submit(step, true));
  EXPECT_TRUE(writer_.flush(kLong).ok());
  EXPECT_EQ(staging_->used_bytes(), 0u);
  EXPECT_TRUE(writer_.finish(nullptr, kLong).ok());
}

TEST_F(StepWriterTest, FinishGivesUpOnAStorageThatDoesNotAnswer) {
  journal_.hold();
  EXPECT_TRUE(submit(0));
  journal_.wait_until_held();
  EXPECT_EQ(writer_.finish(nullptr, milliseconds(5)).code(), Code::kDeadlineExceeded);
}

TEST_F(StepWriterTest, FinishWritesTheLastStepAndTheEnd) {
  EXPECT_TRUE(submit(0));
  auto last = std::make_unique<StagedStep>(*staging_);
  last->id.global_step = 1;
  EXPECT_TRUE(writer_.finish(std::move(last), kLong).ok());
  ASSERT_EQ(journal_.batches().size(), 2u);
  EXPECT_EQ(journal_.batches()[1].global_step, 1);
  EXPECT_EQ(journal_.events().size(), 1u);
  EXPECT_TRUE(journal_.sealed());
}

}  // namespace
}  // namespace trainwarden::capture
