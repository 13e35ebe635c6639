#include "react/actions/profile_action.h"

#include <gtest/gtest.h>

#include "data/format/control_record.h"
#include "react/actions/action_testing.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::actions {
namespace {

using Kind = ActionOutcome::Kind;

const std::string kProfilePath = "control/profile-vanishinggradient-120.json";

class ProfileActionTest : public ::testing::Test {
 protected:
  RunContext context() {
    return {.name = "first",
            .path = "/runs/first",
            .storage = storage_.get(),
            .answer_to = [this](const format::RequestId&) { return Result<RunAnswer>(RunAnswer{.ended = ended_}); },
            .common_step = [this] { return common_step_; }};
  }
  ActionOutcome profile(RunContext run) {
    return make_profile_action({.steps = 7}, std::move(run))->run(sample_notice(), {});
  }
  format::ProfileRequest request() {
    const auto found = format::decode_profile_request(*storage_->read(kProfilePath));
    EXPECT_TRUE(found.ok()) << found.status().to_string();
    return *found;
  }

  std::unique_ptr<storage::MemoryStorage> storage_ = storage::create_memory_storage();
  bool ended_ = false;
  Result<std::int64_t> common_step_ = 130;
};

TEST_F(ProfileActionTest, AsksForStepsThatAllRanksHaveBeforeThem) {
  const ActionOutcome outcome = profile(context());
  EXPECT_EQ(outcome.kind, Kind::kDone);
  EXPECT_EQ(outcome.answer, "asked for 7 steps from step 130 on");
  EXPECT_EQ(request().first_step, 130);
  EXPECT_EQ(request().steps, 7);
  EXPECT_EQ(request().key, "vanishinggradient-120");
  EXPECT_EQ(request().requested_by, sample_notice().requested_by);
}

TEST_F(ProfileActionTest, AsksOnceForOneEvent) {
  EXPECT_EQ(profile(context()).kind, Kind::kDone);
  common_step_ = 999;
  EXPECT_EQ(profile(context()).answer, "asked before");
  EXPECT_EQ(request().first_step, 130);
}

TEST_F(ProfileActionTest, WithoutAStepThatIsKnownEachBeginsWithItsNext) {
  RunContext run = context();
  run.common_step = nullptr;
  EXPECT_EQ(profile(run).answer, "asked for 7 steps from its next one on");
  EXPECT_EQ(request().first_step, -1);
}

TEST_F(ProfileActionTest, AsksNothingOfATrainingThatHasEnded) {
  ended_ = true;
  const ActionOutcome outcome = profile(context());
  EXPECT_EQ(outcome.kind, Kind::kGiveUp);
  EXPECT_NE(outcome.status.message().find("has ended"), std::string::npos);
  EXPECT_FALSE(storage_->exists(kProfilePath));
}

TEST_F(ProfileActionTest, ARunThatCannotBeReadIsAskedLater) {
  common_step_ = Status(Code::kUnavailable, "no answer");
  EXPECT_EQ(profile(context()).kind, Kind::kTryAgain);
  EXPECT_FALSE(storage_->exists(kProfilePath));
}

TEST_F(ProfileActionTest, KnowsItsParameters) {
  ActionParameters few({{"steps", std::vector<std::string>{"0"}}});
  EXPECT_EQ(profile_kind().create(few, context()).status().code(), Code::kInvalidArgument);
  ActionParameters fine({{"steps", std::vector<std::string>{"5"}}});
  const auto action = profile_kind().create(fine, context());
  ASSERT_TRUE(action.ok()) << action.status().to_string();
  EXPECT_EQ((*action)->name(), "profile");
}

}  // namespace
}  // namespace trainwarden::actions
