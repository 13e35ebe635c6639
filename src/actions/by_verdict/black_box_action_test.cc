#include "actions/by_verdict/black_box_action.h"

#include <gtest/gtest.h>

#include "format/control_record.h"
#include "storage/faulty_storage.h"
#include "storage/memory_storage.h"

namespace trainwarden::actions::by_verdict {
namespace {

class BlackBoxActionTest : public ::testing::Test {
 protected:
  BlackBoxActionTest() {
    fired_.rule_id = "NaNLoss";
    fired_.global_step = 33;
    fired_.step_text = "step 33 (train 30)";
    fired_.verdict = {Outcome::kFired, Severity::kError, "the loss is NaN", "", {}};
  }
  ActionContext context() { return {fired_, idempotency_key(fired_), "watch-0"}; }

  const std::unique_ptr<storage::MemoryStorage> storage_ = storage::create_memory_storage();
  FakeClock clock_;
  FiredVerdict fired_;
};

TEST_F(BlackBoxActionTest, AsksOnceForTheStepOfTheVerdict) {
  BlackBoxAction action(*storage_, clock_);
  ASSERT_TRUE(action.run(context()).ok());
  const std::string path = format::black_box_request_path("nanloss-33");
  const auto request = format::decode_black_box_request(*storage_->read(path));
  ASSERT_TRUE(request.ok()) << request.status().to_string();
  EXPECT_EQ(*request, (format::BlackBoxRequest{.key = "nanloss-33",
                                               .reason = "NaNLoss fired at step 33 (train 30): the loss is NaN",
                                               .rule = "NaNLoss",
                                               .global_step = 33,
                                               .requested_by = "watch-0",
                                               .unix_ns = clock_.unix_ns()}));
  const std::string before = storage_->content(path);
  clock_.advance_ns(1);
  EXPECT_TRUE(action.run(context()).ok()) << "asked already";
  EXPECT_EQ(storage_->content(path), before);
}

TEST_F(BlackBoxActionTest, AStorageThatRefusesIsTold) {
  const auto faulty = storage::create_faulty_storage(*storage_);
  faulty->set_plan({.fail_call = 0, .fail_all_after = true});
  BlackBoxAction action(*faulty, clock_);
  EXPECT_FALSE(action.run(context()).ok());
}

TEST_F(BlackBoxActionTest, IsOfUseWhereAWorkerHasABlackBox) {
  EXPECT_FALSE(BlackBoxAction::is_of_use(*storage_));
  ASSERT_TRUE(storage_->create_folder(format::kBlackBoxFolder).ok());
  EXPECT_TRUE(BlackBoxAction::is_of_use(*storage_));
}

}  // namespace
}  // namespace trainwarden::actions::by_verdict
