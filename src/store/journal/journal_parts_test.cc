// Steps that come in parts: one step to whoever reads, and nothing of it before its end.
#include <memory>

#include <gtest/gtest.h>

#include "core/base/clock.h"
#include "data/format/run_event.h"
#include "store/journal/journal_reader.h"
#include "store/journal/journal_writer.h"
#include "store/journal/sample_run.h"
#include "store/storage/faulty_storage.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::journal {
namespace {

constexpr std::uint32_t kTensors = 6;

class JournalPartsTest : public testing::Test {
 protected:
  // The tensors of `step` from `begin` to `end`, as a part.
  static StepBatch part_of(const StepBatch& step, std::size_t begin, std::size_t end) {
    StepBatch part;
    part.global_step = step.global_step;
    part.mode = step.mode;
    part.mode_step = step.mode_step;
    part.new_names = step.new_names;
    const auto first = step.tensors.begin();
    part.tensors.assign(first + static_cast<std::ptrdiff_t>(begin), first + static_cast<std::ptrdiff_t>(end));
    return part;
  }
  // All of the step but these tensors.
  static StepBatch end_of(const StepBatch& step, std::size_t begin) {
    StepBatch end = step;
    end.new_names.clear();
    end.tensors.erase(end.tensors.begin(), end.tensors.begin() + static_cast<std::ptrdiff_t>(begin));
    return end;
  }
  static std::unique_ptr<SampleStep> step(std::int64_t number, bool with_names) {
    auto step = std::make_unique<SampleStep>(number, Mode::kTrain, number);
    for (std::uint32_t id = 0; id < kTensors; ++id) {
      if (with_names) step->name_tensor(id, sample_name(id));
      step->keep(id, DType::kFloat32, {100, 50});
    }
    step->add_statistics(0);
    step->add_scalar(1, 0.25);
    return step;
  }
  FakeClock clock_;
  std::unique_ptr<storage::MemoryStorage> memory_ = storage::create_memory_storage();
};

TEST_F(JournalPartsTest, AreOneStepWithItsEnd) {
  for (const bool sealed : {false, true}) {
    memory_ = storage::create_memory_storage();
    const auto writer = open_sample_writer(*memory_, clock_);
    const auto whole = step(0, true);
    ASSERT_TRUE(writer->append_step(whole->batch()).ok());
    const auto parted = step(1, true);
    ASSERT_TRUE(writer->append_part(part_of(parted->batch(), 0, 2)).ok());
    EXPECT_TRUE(writer->holds_parts());
    ASSERT_TRUE(writer->append_event(format::FrameKind::kEvent, -1, format::encode_run_end({})).ok());
    ASSERT_TRUE(writer->append_part(part_of(parted->batch(), 2, 5)).ok());
    const auto early = open_sample_reader(*memory_, true);
    ASSERT_EQ(early->steps().size(), 1u) << "a step is seen whole or not";
    ASSERT_TRUE(writer->append_step(end_of(parted->batch(), 5)).ok());
    EXPECT_FALSE(writer->holds_parts());
    const auto after = step(2, false);
    ASSERT_TRUE(writer->append_step(after->batch()).ok());
    if (sealed) {
      ASSERT_TRUE(writer->seal().ok());
    }
    ASSERT_TRUE(early->refresh().ok());
    const auto late = open_sample_reader(*memory_, false);
    for (JournalReader* const reader : {early.get(), late.get()}) {
      ASSERT_EQ(reader->steps().size(), 3u);
      EXPECT_EQ(difference(*reader, 0, whole->batch()), "");
      EXPECT_EQ(difference(*reader, 1, parted->batch()), "");
      EXPECT_EQ(difference(*reader, 2, after->batch()), "");
      ASSERT_TRUE(reader->verify_all().ok());
      EXPECT_TRUE(reader->losses().empty());
    }
  }
}

TEST_F(JournalPartsTest, AStepMayHaveNothingButParts) {
  const auto writer = open_sample_writer(*memory_, clock_);
  const auto parted = step(0, true);
  ASSERT_TRUE(writer->append_part(part_of(parted->batch(), 0, kTensors)).ok());
  ASSERT_TRUE(writer->append_step(end_of(parted->batch(), kTensors)).ok());
  ASSERT_TRUE(writer->seal().ok());
  const auto reader = open_sample_reader(*memory_, false);
  ASSERT_EQ(reader->steps().size(), 1u);
  EXPECT_EQ(difference(*reader, 0, parted->batch()), "");
}

TEST_F(JournalPartsTest, WithoutTensorsThereIsNoPart) {
  const auto writer = open_sample_writer(*memory_, clock_);
  EXPECT_EQ(writer->append_part(part_of(step(0, true)->batch(), 0, 0)).code(), Code::kInvalidArgument);
  EXPECT_FALSE(writer->holds_parts());
}

TEST_F(JournalPartsTest, ASegmentIsNotSealedBetweenThem) {
  JournalOptions options = sample_journal_options();
  options.segment_bytes = 1;  // sealed after each append
  const auto writer = open_sample_writer(*memory_, clock_, options);
  const auto parted = step(0, true);
  ASSERT_TRUE(writer->append_part(part_of(parted->batch(), 0, 3)).ok());
  ASSERT_TRUE(writer->append_part(part_of(parted->batch(), 3, 4)).ok());
  EXPECT_TRUE(writer->holds_parts());
  ASSERT_TRUE(writer->append_step(end_of(parted->batch(), 4)).ok());
  const auto reader = open_sample_reader(*memory_, false);
  ASSERT_EQ(reader->steps().size(), 1u);
  EXPECT_EQ(difference(*reader, 0, parted->batch()), "");
  EXPECT_TRUE(reader->losses().empty());
}

// The writer says so, and readers see that something was there.
TEST_F(JournalPartsTest, AreLostWithTheirSegment) {
  const auto faulty = storage::create_faulty_storage(*memory_);
  const auto writer = open_sample_writer(*faulty, clock_);
  const auto parted = step(0, true);
  ASSERT_TRUE(writer->append_part(part_of(parted->batch(), 0, 3)).ok());
  faulty->set_plan({.fail_call = 0, .short_write = true});
  EXPECT_FALSE(writer->append_part(part_of(parted->batch(), 3, 4)).ok());
  EXPECT_FALSE(writer->holds_parts());
  clock_.advance_ns(20'000'000'000);
  ASSERT_TRUE(writer->append_step(end_of(parted->batch(), 4)).ok());
  ASSERT_TRUE(writer->seal().ok());
  const auto reader = open_sample_reader(*memory_, false);
  ASSERT_EQ(reader->steps().size(), 1u);
  EXPECT_EQ(difference(*reader, 0, end_of(parted->batch(), 4)), "");
  ASSERT_FALSE(reader->losses().empty());
}

}  // namespace
}  // namespace trainwarden::journal
