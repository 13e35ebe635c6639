#include "hook/capture/saving/step_intake.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "hook/capture/part_testing.h"

namespace trainwarden::capture {
namespace {

class StepIntakeTest : public OpenStepTest {
 protected:
  void fill(StepIntake& intake) {
    while (auto slot = step_.claim(staging_->capacity_bytes() / 4)) {
      intake.step().add_tensor(*std::move(slot), entry(), StagedTensor());
    }
  }
  CaptureLoss only_loss() const {
    const std::vector<CaptureLoss> losses = losses_.losses();
    EXPECT_EQ(losses.size(), 1u);
    return losses.empty() ? CaptureLoss() : losses.front();
  }
};

TEST_F(StepIntakeTest, WhatCouldNeverFitIsLostWithAdvice) {
  StepIntake blocking = intake(WhenFull::kBlock);
  EXPECT_FALSE(blocking.claim(entry(), staging_->capacity_bytes() + 1).has_value());
  const CaptureLoss loss = only_loss();
  EXPECT_EQ(loss.cause, LossCause::kTooLarge);
  EXPECT_EQ(loss.bytes, staging_->capacity_bytes() + 1);
  EXPECT_NE(loss.first_message.find("raise staging_bytes"), std::string::npos) << loss.first_message;
}

TEST_F(StepIntakeTest, WhatFindsNoRoomIsLostAtOnceUnlessItMayWait) {
  StepIntake dropping = intake(WhenFull::kDrop);
  fill(dropping);
  const auto ended = step_.end({});
  ended->share.hand_over();  // waiting would be of use
  EXPECT_FALSE(dropping.claim(entry(), staging_->capacity_bytes()).has_value());
  EXPECT_EQ(only_loss().cause, LossCause::kStagingFull);
  EXPECT_EQ(only_loss().count, 1u);
}

TEST_F(StepIntakeTest, WaitsUntilTheWriterGivesRoomBack) {
  StepIntake blocking = intake(WhenFull::kBlock);
  fill(blocking);
  auto ended = step_.end({});
  ended->share.hand_over();
  const std::jthread writer([&] { ended.reset(); });
  EXPECT_TRUE(blocking.claim(entry(), staging_->capacity_bytes()).has_value());
  EXPECT_TRUE(losses_.losses().empty());
}

TEST_F(StepIntakeTest, DoesNotWaitForTheStepThatIsOpen) {
  StepIntake blocking = intake(WhenFull::kBlock);
  fill(blocking);
  EXPECT_FALSE(blocking.claim(entry(), staging_->capacity_bytes()).has_value());
  EXPECT_EQ(only_loss().cause, LossCause::kStagingFull);
}

TEST_F(StepIntakeTest, AnOffHooksLossesAreInTheReportAlone) {
  StepIntake dropping = intake(WhenFull::kDrop);
  dropping.lose_unsupported(entry(), "why");
  EXPECT_FALSE(step_.step_is_empty());
  EXPECT_EQ(step_.end({})->losses.count(), 1u);
  state_.switch_off("closed");
  dropping.lose_off(entry(), 7);
  EXPECT_TRUE(step_.step_is_empty());
  EXPECT_EQ(losses_.losses().size(), 2u);
}

// What is kept of a tensor: 'v'alues, 's'tatistics, s'h'ape; '-' nothing. Lost values are tried first.
std::string kept(const StepIntake& intake, FormBits form, bool room) {
  std::string calls;
  intake.keep_in_form(
      form,
      [&] {
        calls += 'v';
        return room;
      },
      [&] { calls += 's'; }, [&] { calls += 'h'; });
  return calls.empty() ? "-" : calls;
}

TEST_F(StepIntakeTest, KeepsTheFormThatIsWantedOrWhatMayTakeItsPlace) {
  const StepIntake dropping = intake(WhenFull::kDrop);
  const StepIntake summarizing = intake(WhenFull::kStatistics);
  EXPECT_EQ(kept(dropping, kValuesBit, true), "v");
  EXPECT_EQ(kept(dropping, kValuesBit | kStatisticsBit, true), "v") << "the writer thread computes the statistics";
  EXPECT_EQ(kept(dropping, kStatisticsBit | kShapeBit, true), "s");
  EXPECT_EQ(kept(dropping, kShapeBit, true), "h");
  EXPECT_EQ(kept(dropping, kBlackBoxBit, true), "-");
  EXPECT_EQ(kept(dropping, kValuesBit, false), "v");
  EXPECT_EQ(kept(dropping, kValuesBit | kHistogramBit, false), "vs");
  EXPECT_EQ(kept(summarizing, kValuesBit, false), "vs");
  EXPECT_EQ(kept(summarizing, kShapeBit, false), "h");
}

}  // namespace
}  // namespace trainwarden::capture
