#include "hook/capture/writing/step_handover.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "hook/capture/part_testing.h"

namespace trainwarden::capture {
namespace {

class StepHandoverTest : public WrittenStepTest {
 protected:
  // As much memory as the rows of all steps need that the queue takes.
  StepHandoverTest() : WrittenStepTest(std::size_t{64} << 20) {}

  void end_step_with_a_scalar() {
    step_.add_scalar(entry(), 1);
    handover_.end_step(counter_.current());
    counter_.advance();
  }

  // Half of a part.
  void add_tensor() {
    constexpr std::size_t kBytes = std::size_t{8} << 20;
    StagedTensor tensor;
    tensor.dtype = DType::kUInt8;
    tensor.shape = {std::int64_t{kBytes}};
    ASSERT_EQ(step_.add_tensor(*step_.claim(kBytes), entry("t" + std::to_string(tensors_added_++)), std::move(tensor)),
              StepAssembler::Added::kYes);
  }

  int tensors_added_ = 0;
  StepIntake intake_ = intake(WhenFull::kDrop);
  StepHandover handover_{intake_, devices_, counter_, *staging_, bill_, writer_};
};

TEST_F(StepHandoverTest, AStepWithNothingInItIsNotHandedOver) {
  handover_.end_step(counter_.current());
  EXPECT_TRUE(finish().ok());
  EXPECT_TRUE(journal_.batches().empty());
}

TEST_F(StepHandoverTest, AStepThatFindsTheQueueFullIsLostWholeAndTheNextOneSaysSo) {
  journal_.hold();
  end_step_with_a_scalar();
  journal_.wait_until_held();
  for (std::size_t i = 0; i < StepWriter::kMaxWaitingSteps; ++i) end_step_with_a_scalar();
  EXPECT_TRUE(losses_.losses().empty());
  const std::int64_t lost_step = counter_.current().global_step;
  end_step_with_a_scalar();
  const auto losses = losses_.losses();
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_EQ(losses[0].cause, LossCause::kStagingFull);
  EXPECT_EQ(losses[0].count, 1u);
  EXPECT_EQ(losses[0].first_message, "step " + std::to_string(lost_step) + ": too many steps wait for the writer");
  step_.look_into([](StagedStep& step) { EXPECT_EQ(step.losses.count(), 1u); });
  journal_.release();
  EXPECT_TRUE(finish().ok());
  EXPECT_EQ(journal_.batches().size(), StepWriter::kMaxWaitingSteps + 1);
}

TEST_F(StepHandoverTest, OfALargeStepPartsGoAhead) {
  for (int i = 0; i < 5; ++i) {
    add_tensor();
    handover_.hand_over_part();
  }
  EXPECT_FALSE(step_.step_is_empty());
  end_step_with_a_scalar();
  EXPECT_TRUE(finish().ok());
  EXPECT_EQ(journal_.parts().size(), 2u) << "of two tensors each";
  ASSERT_EQ(journal_.batches().size(), 1u);
  EXPECT_EQ(journal_.batches()[0].tensors.size(), 1u);
  EXPECT_EQ(journal_.batches()[0].scalars.size(), 1u);
  EXPECT_TRUE(losses_.losses().empty());
}

TEST_F(StepHandoverTest, AStepMayHaveNothingLeftBesideItsParts) {
  for (int i = 0; i < 2; ++i) add_tensor();
  handover_.hand_over_part();
  EXPECT_FALSE(step_.step_is_empty()) << "it is a step to end";
  handover_.end_step(counter_.current());
  EXPECT_TRUE(step_.step_is_empty());
  EXPECT_TRUE(finish().ok());
  EXPECT_EQ(journal_.parts().size(), 1u);
  EXPECT_EQ(journal_.batches().size(), 1u);
}

TEST_F(StepHandoverTest, AStepStaysWholeForWhoLooksIntoIt) {
  handover_.keep_steps_whole();
  for (int i = 0; i < 5; ++i) {
    add_tensor();
    handover_.hand_over_part();
  }
  handover_.end_step(counter_.current());
  EXPECT_TRUE(finish().ok());
  EXPECT_TRUE(journal_.parts().empty());
  EXPECT_EQ(journal_.batches().at(0).tensors.size(), 5u);
}

TEST_F(StepHandoverTest, AnotherThreadThanTheDriverTakesNoPart) {
  for (int i = 0; i < 3; ++i) add_tensor();
  std::thread([&] { handover_.hand_over_part(); }).join();
  handover_.end_step(counter_.current());
  EXPECT_TRUE(finish().ok());
  EXPECT_TRUE(journal_.parts().empty());
}

TEST_F(StepHandoverTest, NoPartIsTakenWhileSomebodyCopies) {
  for (int i = 0; i < 3; ++i) add_tensor();
  {
    const auto slot = step_.claim(8);
    handover_.hand_over_part();
  }
  handover_.end_step(counter_.current());
  EXPECT_TRUE(finish().ok());
  EXPECT_TRUE(journal_.parts().empty());
  EXPECT_EQ(journal_.batches().at(0).tensors.size(), 3u);
}

// Its parts are with the writer: without the end they would be lost.
TEST_F(StepHandoverTest, TheEndOfAStepInPartsFindsRoomInAFullQueue) {
  journal_.hold();
  end_step_with_a_scalar();
  journal_.wait_until_held();
  for (int i = 0; i < 2; ++i) add_tensor();
  handover_.hand_over_part();
  const StepId parted = counter_.current();
  for (std::size_t i = 1; i < StepWriter::kMaxWaitingSteps; ++i) {
    auto other = std::make_unique<StagedStep>(*staging_);
    ASSERT_TRUE(writer_.submit(other, false));
  }
  handover_.end_step(parted);
  EXPECT_TRUE(losses_.losses().empty());
  journal_.release();
  EXPECT_TRUE(finish().ok());
  EXPECT_EQ(journal_.batches().back().global_step, parted.global_step);
}

}  // namespace
}  // namespace trainwarden::capture
