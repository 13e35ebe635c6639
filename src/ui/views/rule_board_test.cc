#include "ui/views/rule_board.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "ui/views/run_on_disk.h"

namespace trainwarden::views {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// A loss that is NaN at the steps 3, 4 and 6.
TestRun broken_training() {
  TestRun run;
  for (std::int64_t step = 0; step < 8; ++step) {
    const bool broken = step == 3 || step == 4 || step == 6;
    run.add({.step = step, .tensors = {kept("loss", {broken ? kNan : 1.0F}, {"losses"})}});
  }
  run.end();
  return run;
}

TEST(RuleBoard, IsEmptyWithoutAnyRule) {
  const RunOnDisk run(broken_training());
  const auto board = rule_board(run.folder());
  ASSERT_TRUE(board.ok()) << board.status().to_string();
  EXPECT_TRUE(board->empty());
}

TEST(RuleBoard, TellsWhereEachRuleStandsAndWhatItIs) {
  const RunOnDisk run(broken_training());
  run.judge({"ExplodingTensor:collection_names=losses", "VanishingGradient"});
  const auto board = rule_board(run.folder());
  ASSERT_TRUE(board.ok()) << board.status().to_string();
  ASSERT_EQ(board->size(), 2U);
  const RuleOnBoard& exploding = (*board)[0];
  EXPECT_EQ(exploding.summary.history.status.status, RuleStatus::kIssuesFound);
  EXPECT_EQ(exploding.times_fired, 1U);
  EXPECT_EQ(exploding.first_fired_step, 3);
  EXPECT_EQ(exploding.last_fired_step, 3);
  ASSERT_TRUE(exploding.gravest.has_value());
  ASSERT_NE(exploding.kind, nullptr);
  EXPECT_EQ(exploding.kind->description.name, "ExplodingTensor");
  EXPECT_EQ((*board)[1].summary.history.status.status, RuleStatus::kNotApplicable);
  EXPECT_EQ((*board)[1].times_fired, 0U);
  EXPECT_FALSE((*board)[1].gravest.has_value());
}

TEST(RuleBoard, CountsVerdictsThatWereFolded) {
  const RunOnDisk run(broken_training());
  run.judge({"ExplodingTensor:collection_names=losses"}, true);
  const auto board = rule_board(run.folder());
  ASSERT_TRUE(board.ok()) << board.status().to_string();
  EXPECT_EQ((*board)[0].times_fired, 3U);  // 3 and 4 are reported once
  EXPECT_EQ((*board)[0].summary.history.verdicts.size(), 2U);
  ASSERT_EQ((*board)[0].summary.history.repeats.size(), 1U);
  EXPECT_EQ((*board)[0].summary.history.repeats[0].last_step, 4);
  EXPECT_EQ((*board)[0].first_fired_step, 3);
  EXPECT_EQ((*board)[0].last_fired_step, 6);
}

TEST(RuleBoard, AnEngineThatJudgesAnewTellsNothingTwice) {
  const RunOnDisk run(broken_training());
  run.judge({"ExplodingTensor:collection_names=losses"}, true);
  run.judge({"ExplodingTensor:collection_names=losses"}, true);
  EXPECT_EQ(rule_board(run.folder())->at(0).times_fired, 3U);
}

}  // namespace
}  // namespace trainwarden::views
