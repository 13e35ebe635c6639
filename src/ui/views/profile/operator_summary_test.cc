#include "ui/views/profile/operator_summary.h"

#include <gtest/gtest.h>

#include "read/trial/run_testing.h"

namespace trainwarden::views {
namespace {

OperatorBatch batch_at(std::int64_t step) {
  OperatorBatch batch;
  batch.global_step = step;
  batch.names = {"aten::addmm"};
  batch.tracks = {{"main", 1, false}};
  batch.calls = {{0, 0, OperatorKind::kOperator, 0, 3'000'000, -1},
                 {0, 0, OperatorKind::kOperator, 5'000'000, 1'000'000, -1}};
  batch.memory = {{1, 100, 100, 0}, {2, 50, 150, 0}, {3, -150, 0, 0}};
  return batch;
}

TEST(OperatorSummary, AddsUpTheStepsOfAllWindows) {
  TestRun run;
  run.add_steps(0, 3);
  run.operators(batch_at(1));
  run.operators(batch_at(2));
  const auto trial = run.open();
  OperatorSummary summary;
  ASSERT_TRUE(summary.refresh(*trial, std::chrono::hours(1)).ok());
  const auto operators = summary.operators();
  ASSERT_TRUE(operators);
  EXPECT_EQ(operators->first_step, 1);
  EXPECT_EQ(operators->last_step, 2);
  EXPECT_EQ(operators->steps, 2U);
  ASSERT_EQ(operators->rows.size(), 1U);
  EXPECT_EQ(operators->rows[0].calls, 4U);
  EXPECT_DOUBLE_EQ(operators->rows[0].self_ms, 8);
  EXPECT_DOUBLE_EQ(operators->rows[0].longest_ms, 3);
  ASSERT_EQ(summary.memory().size(), 1U);
  EXPECT_DOUBLE_EQ(summary.memory()[0].peak_bytes, 150);
  EXPECT_EQ(summary.memory()[0].peak_step, 1);
  EXPECT_DOUBLE_EQ(summary.memory()[0].at_end_bytes, 0);
}

TEST(OperatorSummary, SampledStacksOfPythonAreApart) {
  TestRun run;
  run.add_steps(0, 3);
  OperatorBatch batch = batch_at(1);
  batch.names.push_back("train (train.py:12)");
  batch.tracks.push_back({"python thread 1", 1, false});
  batch.calls.push_back({1, 1, OperatorKind::kPythonStack, 0, 9'000'000, -1});
  run.operators(batch);
  const auto trial = run.open();
  OperatorSummary summary;
  ASSERT_TRUE(summary.refresh(*trial, std::chrono::hours(1)).ok());
  ASSERT_TRUE(summary.operators() && summary.stacks());
  EXPECT_EQ(summary.operators()->rows.size(), 1U);
  ASSERT_EQ(summary.stacks()->rows.size(), 1U);
  EXPECT_EQ(summary.stacks()->rows[0].name, "train (train.py:12)");
  EXPECT_DOUBLE_EQ(summary.stacks()->rows[0].self_ms, 9);
}

TEST(OperatorSummary, ReadsOnAndCountsWhatItHadNoTimeFor) {
  TestRun run;
  run.add_steps(0, 3);
  run.operators(batch_at(1));
  run.operators(batch_at(2));
  const auto trial = run.open();
  OperatorSummary summary;
  ASSERT_TRUE(summary.refresh(*trial, std::chrono::nanoseconds(0)).ok());
  EXPECT_EQ(summary.operators()->steps, 1U);
  EXPECT_EQ(summary.operators()->left_out_steps, 1U);
  ASSERT_TRUE(summary.refresh(*trial, std::chrono::nanoseconds(0)).ok());
  EXPECT_EQ(summary.operators()->steps, 2U);
  EXPECT_EQ(summary.operators()->left_out_steps, 0U);
}

TEST(OperatorSummary, OfARunWithoutOperatorsThereIsNone) {
  TestRun run;
  run.add_steps(0, 3);
  const auto trial = run.open();
  OperatorSummary summary;
  ASSERT_TRUE(summary.refresh(*trial, std::chrono::hours(1)).ok());
  EXPECT_FALSE(summary.operators());
  EXPECT_FALSE(summary.stacks());
}

}  // namespace
}  // namespace trainwarden::views
