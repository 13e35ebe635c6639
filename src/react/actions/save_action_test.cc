#include "react/actions/save_action.h"

#include <map>

#include <gtest/gtest.h>

#include "data/format/control_record.h"
#include "react/actions/action_testing.h"
#include "store/storage/faulty_storage.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::actions {
namespace {

using namespace std::chrono_literals;
using Kind = ActionOutcome::Kind;

const std::string kCheckpointPath = "control/checkpoint-vanishinggradient-120.json";
const std::string kDumpPath = "control/blackbox-vanishinggradient-120.json";
const std::string kDumpFolder = "blackbox/step-000120-rank-00000";

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

class SaveActionTest : public ::testing::Test {
 protected:
  void hold_black_box() { ASSERT_TRUE(storage_->create_folder(format::kBlackBoxFolder).ok()); }
  RunContext context() {
    return {
        .name = "first",
        .path = "/runs/first",
        .storage = storage_.get(),
        .answer_to = [this](const format::RequestId& request) {
          const std::string path = format::path_of(request);
          const auto answer = answers_.find(path);
          return Result<RunAnswer>(answer == answers_.end() || !storage_->exists(path) ? RunAnswer{} : answer->second);
        }};
  }
  ActionOutcome save(SaveOptions options = {.wait = 20ms}, const std::stop_token& stop = {}) {
    return make_save_action(options, context())->run(sample_notice(), stop);
  }

  std::unique_ptr<storage::MemoryStorage> storage_ = storage::create_memory_storage();
  std::map<std::string, RunAnswer> answers_;  // given once the request is there
};

TEST_F(SaveActionTest, AsksForBothAndTellsWhereTheyAre) {
  hold_black_box();
  answers_[kCheckpointPath] = {.accepted = true, .done = true, .detail = "checkpoints/step-120"};
  answers_[kDumpPath] = {.done = true, .detail = kDumpFolder};
  const ActionOutcome outcome = save();
  EXPECT_EQ(outcome.kind, Kind::kDone);
  EXPECT_EQ(outcome.answer, "checkpoint at checkpoints/step-120; black box at " + kDumpFolder);
  const auto checkpoint = format::decode_checkpoint_request(*storage_->read(kCheckpointPath));
  const auto dump = format::decode_black_box_request(*storage_->read(kDumpPath));
  ASSERT_TRUE(checkpoint.ok() && dump.ok());
  EXPECT_EQ(checkpoint->key, "vanishinggradient-120");
  EXPECT_EQ(checkpoint->reason, "VanishingGradient fired at step 120 (train 100): 3 of 8 gradients have vanished");
  EXPECT_EQ(checkpoint->rule, "VanishingGradient");
  EXPECT_EQ(checkpoint->global_step, 120);
  EXPECT_EQ(checkpoint->requested_by, "ledger");
  EXPECT_EQ(dump->key, checkpoint->key);
  EXPECT_EQ(dump->reason, checkpoint->reason);
  EXPECT_EQ(dump->rule, checkpoint->rule);
  EXPECT_EQ(dump->global_step, checkpoint->global_step);
}

TEST_F(SaveActionTest, WithoutABlackBoxTheCheckpointCounts) {
  answers_[kCheckpointPath] = {.done = true, .detail = "/data/model.ckpt"};
  const ActionOutcome outcome = save();
  EXPECT_EQ(outcome.kind, Kind::kDone);
  EXPECT_TRUE(contains(outcome.answer, "checkpoint at /data/model.ckpt; black box: the run has no black box"))
      << outcome.answer;
  EXPECT_FALSE(storage_->exists(kDumpPath));
}

TEST_F(SaveActionTest, AProgramThatCannotSaveStillDumps) {
  hold_black_box();
  answers_[kCheckpointPath] = {.refused = "the program does not say how it saves"};
  answers_[kDumpPath] = {.done = true, .detail = kDumpFolder};
  const ActionOutcome outcome = save();
  EXPECT_EQ(outcome.kind, Kind::kGiveUp);
  EXPECT_EQ(outcome.status.code(), Code::kFailedPrecondition);
  EXPECT_EQ(outcome.status.message(),
            "no checkpoint: the program does not say how it saves; black box at " + kDumpFolder);
}

TEST_F(SaveActionTest, ABlackBoxThatRefusesDoesNotSpoilTheCheckpoint) {
  hold_black_box();
  answers_[kCheckpointPath] = {.done = true, .detail = "c"};
  answers_[kDumpPath] = {.refused = "nothing is held"};
  EXPECT_EQ(save().answer, "checkpoint at c; no black box: nothing is held");
}

TEST_F(SaveActionTest, ABlackBoxThatNobodyNeedsMayBeMissing) {
  const SaveOptions alone{.wait = 20ms, .checkpoint = false};
  EXPECT_EQ(save(alone).kind, Kind::kGiveUp);
  const ActionOutcome outcome = save({.wait = 20ms, .checkpoint = false, .needed = false});
  EXPECT_EQ(outcome.kind, Kind::kDone);
  EXPECT_EQ(outcome.answer, "");
  EXPECT_FALSE(storage_->exists(kDumpPath));
}

TEST_F(SaveActionTest, ABlackBoxThatNobodyNeedsMayRefuse) {
  hold_black_box();
  for (const RunAnswer& answer : {RunAnswer{.refused = "nothing is held"}, RunAnswer{.ended = true}}) {
    answers_[kDumpPath] = answer;
    EXPECT_EQ(save({.wait = 20ms, .checkpoint = false}).kind, Kind::kGiveUp);
    const ActionOutcome outcome = save({.wait = 20ms, .checkpoint = false, .needed = false});
    EXPECT_EQ(outcome.kind, Kind::kDone) << outcome.status.message();
    EXPECT_TRUE(contains(outcome.answer, "no black box: ")) << outcome.answer;
  }
}

TEST_F(SaveActionTest, WhatIsNotWrittenInTimeIsAskedForAgain) {
  hold_black_box();
  answers_[kCheckpointPath] = {.accepted = true};
  answers_[kDumpPath] = {.done = true, .detail = kDumpFolder};
  const ActionOutcome outcome = save();
  EXPECT_EQ(outcome.kind, Kind::kTryAgain);
  EXPECT_EQ(outcome.status.code(), Code::kDeadlineExceeded);
  EXPECT_TRUE(contains(outcome.status.message(), "no checkpoint yet, though it has begun; black box at"))
      << outcome.status.message();
  const std::string request = storage_->content(kCheckpointPath);
  answers_[kCheckpointPath] = {.accepted = true, .done = true, .detail = "c"};
  EXPECT_EQ(save().kind, Kind::kDone);
  EXPECT_EQ(storage_->content(kCheckpointPath), request);
}

TEST_F(SaveActionTest, ATrainingThatEndsSavesNoMore) {
  answers_[kCheckpointPath] = {.ended = true};
  const ActionOutcome outcome = save();
  EXPECT_EQ(outcome.kind, Kind::kGiveUp);
  EXPECT_TRUE(contains(outcome.status.message(), "no checkpoint: the training has ended")) << outcome.status.message();
}

TEST_F(SaveActionTest, TheCallerLeaves) {
  std::stop_source source;
  source.request_stop();
  const ActionOutcome outcome = save({.wait = 600s}, source.get_token());
  EXPECT_EQ(outcome.kind, Kind::kTryAgain);
  EXPECT_EQ(outcome.status.code(), Code::kCancelled);
}

TEST_F(SaveActionTest, WithoutAListenerItOnlyAsks) {
  RunContext run = context();
  run.answer_to = nullptr;
  EXPECT_EQ(make_save_action({}, run)->run(sample_notice(), {}).kind, Kind::kDone);
  EXPECT_TRUE(storage_->exists(kCheckpointPath));
}

TEST_F(SaveActionTest, AFullDiskPasses) {
  const auto full = storage::create_faulty_storage(*storage_);
  full->set_plan({.fail_call = 0, .fail_all_after = true});
  RunContext run = context();
  run.storage = full.get();
  const ActionOutcome outcome = make_save_action({}, run)->run(sample_notice(), {});
  EXPECT_EQ(outcome.kind, Kind::kTryAgain);
  EXPECT_EQ(outcome.status.code(), Code::kResourceExhausted);
}

TEST_F(SaveActionTest, TheBlackBoxAlone) {
  const auto action = create_action("black-box", {{"wait", {"20ms"}}}, context());
  ASSERT_TRUE(action.ok()) << action.status().message();
  EXPECT_EQ((*action)->name(), "black-box");
  const ActionOutcome none = (*action)->run(sample_notice(), {});
  EXPECT_EQ(none.kind, Kind::kGiveUp);
  EXPECT_TRUE(contains(none.status.message(), "--black-box")) << none.status.message();
  hold_black_box();
  EXPECT_EQ((*action)->run(sample_notice(), {}).kind, Kind::kTryAgain);
  answers_[kDumpPath] = {.done = true, .detail = kDumpFolder};
  EXPECT_EQ((*action)->run(sample_notice(), {}).answer, "black box at " + kDumpFolder);
  EXPECT_FALSE(storage_->exists(kCheckpointPath));
  answers_[kDumpPath] = {.refused = "nothing is held"};
  EXPECT_EQ((*action)->run(sample_notice(), {}).kind, Kind::kGiveUp);
}

}  // namespace
}  // namespace trainwarden::actions
