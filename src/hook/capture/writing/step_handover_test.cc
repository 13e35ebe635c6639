#include "hook/capture/writing/step_handover.h"

#include <gtest/gtest.h>

#include <string>

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

  StepIntake intake_ = intake(WhenFull::kDrop);
  StepHandover handover_{intake_, devices_, bill_, writer_};
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

}  // namespace
}  // namespace trainwarden::capture
