#include "actions/by_verdict/stop_action.h"

#include <gtest/gtest.h>

#include "format/control_record.h"
#include "storage/faulty_storage.h"
#include "storage/memory_storage.h"

namespace trainwarden::actions::by_verdict {
namespace {

using std::chrono::milliseconds;

class StopActionTest : public ::testing::Test {
 protected:
  StopActionTest() : storage_(storage::create_memory_storage()) {
    fired_.rule_id = "LossNotDecreasing";
    fired_.global_step = 33;
    fired_.step_text = "step 33 (train 30)";
    fired_.verdict = {Outcome::kFired, Severity::kWarning, "the loss stands still", "", {}};
  }

  // Time passes only while the action waits.
  StopOptions options(milliseconds timeout = milliseconds(1000)) {
    return {timeout, &clock_, [this](milliseconds interval, const std::stop_token&) {
              clock_.advance_ns(std::chrono::nanoseconds(interval).count());
              ++pauses_;
            }};
  }
  ActionContext context() { return {fired_, idempotency_key(fired_), "watch-0"}; }
  std::string request_path() const { return format::stop_request_path(idempotency_key(fired_)); }

  std::unique_ptr<storage::MemoryStorage> storage_;
  FakeClock clock_;
  FiredVerdict fired_;
  int pauses_ = 0;
};

// The whole way: the request lies in the run, the training reads it at the end of its third step and answers.
TEST_F(StopActionTest, AsksAndWaitsForTheAnswer) {
  std::string accepted_key;
  StopAction action(
      *storage_,
      [&](std::string_view key) -> Result<bool> {
        if (pauses_ == 3) {
          const auto request = format::decode_stop_request(*storage_->read(request_path()));
          EXPECT_EQ(request->reason, "LossNotDecreasing fired at step 33 (train 30): the loss stands still");
          EXPECT_EQ(request->requested_by, "watch-0");
          accepted_key = request->key;
        }
        return accepted_key == key;
      },
      options());
  EXPECT_TRUE(action.run(context()).ok());
  EXPECT_EQ(accepted_key, "lossnotdecreasing-33");
  EXPECT_EQ(pauses_, 3);
}

TEST_F(StopActionTest, ARequestThatIsThereWillDo) {
  StopAction action(
      *storage_, [](std::string_view) -> Result<bool> { return true; }, options());
  EXPECT_TRUE(action.run(context()).ok());
  const std::string before = storage_->content(request_path());
  clock_.advance_ns(1);
  EXPECT_TRUE(action.run(context()).ok());
  EXPECT_EQ(storage_->content(request_path()), before);
}

TEST_F(StopActionTest, NoAnswerInTime) {
  StopAction action(
      *storage_, [](std::string_view) -> Result<bool> { return false; }, options(milliseconds(50)));
  const Status status = action.run(context());
  EXPECT_EQ(status.code(), Code::kDeadlineExceeded);
  EXPECT_NE(status.message().find("within 50 ms"), std::string::npos) << status.message();
  EXPECT_TRUE(storage_->exists(request_path()));
}

TEST_F(StopActionTest, TheCallerLeaves) {
  StopAction action(
      *storage_, [](std::string_view) -> Result<bool> { return false; }, options());
  std::stop_source stop;
  stop.request_stop();
  ActionContext leaving = context();
  leaving.stop = stop.get_token();
  EXPECT_EQ(action.run(leaving).code(), Code::kCancelled);
}

TEST_F(StopActionTest, WhatFailsIsTold) {
  StopAction cannot_ask(
      *storage_, [](std::string_view) -> Result<bool> { return Status(Code::kDataLoss, "damaged"); }, options());
  EXPECT_EQ(cannot_ask.run(context()).code(), Code::kDataLoss);
  const auto full = storage::create_faulty_storage(*storage_);
  full->set_plan({.fail_call = 0, .fail_all_after = true});
  StopAction cannot_write(
      *full, [](std::string_view) -> Result<bool> { return true; }, options());
  EXPECT_EQ(cannot_write.run(context()).code(), Code::kResourceExhausted);
}

TEST_F(StopActionTest, WithoutAPauseOfItsOwnItSleeps) {
  int questions = 0;
  StopAction action(*storage_, [&](std::string_view) -> Result<bool> { return ++questions == 3; });
  EXPECT_TRUE(action.run(context()).ok());
}

}  // namespace
}  // namespace trainwarden::actions::by_verdict
