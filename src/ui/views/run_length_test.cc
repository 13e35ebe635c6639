#include "ui/views/run_length.h"

#include <gtest/gtest.h>

#include "read/trial/run_testing.h"

namespace trainwarden::views {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

// Train steps, one a second after `apart_s`, with the epochs that their batches are of.
TestRun trained(const std::vector<float>& epochs, std::int64_t apart_s = 1) {
  TestRun run;
  for (std::size_t i = 0; i < epochs.size(); ++i) {
    run.clock().advance_ns(apart_s * kSecondNs);
    run.add({.step = static_cast<std::int64_t>(i),
             .tensors = {scalar("trainwarden/batch/epoch", epochs[i], {"signals"})},
             .mode = Mode::kTrain});
  }
  return run;
}

TEST(RunLengthTest, IsWhatALabelSays) {
  const TestRun run = trained({0, 0, 0, 0}, 2);
  const auto trial = run.open();
  const auto length = run_length(*trial, {{"lr", "5"}, {"total_steps", "10"}});
  ASSERT_TRUE(length.has_value());
  EXPECT_EQ(length->total_steps, 10);
  EXPECT_EQ(length->done_steps, 4);
  EXPECT_EQ(length->label, "total_steps");
  EXPECT_FALSE(length->is_estimate);
  EXPECT_EQ(length->seconds_left, 12);  // six steps of two seconds
}

TEST(RunLengthTest, SaysNothingThatNobodyKnows) {
  const TestRun run = trained({0, 0, 0, 0});
  const auto trial = run.open();
  for (const Labels& labels : {Labels{}, Labels{{"max_steps", "-1"}}, Labels{{"total_steps", "many"}},
                               Labels{{"total_steps", "3"}},  // it has taken four
                               Labels{{"epochs", "3"}}}) {    // none is over
    EXPECT_FALSE(run_length(*trial, labels).has_value());
  }
}

TEST(RunLengthTest, CountsTheStepsOfEpochsThatAreOver) {
  const TestRun run = trained({0, 0, 0, 1, 1, 1, 2, 2});
  const auto trial = run.open();
  const auto length = run_length(*trial, {{"num_train_epochs", "5.0"}});
  ASSERT_TRUE(length.has_value());
  EXPECT_EQ(length->total_steps, 15);
  EXPECT_EQ(length->done_steps, 8);
  EXPECT_EQ(length->label, "num_train_epochs");
  EXPECT_TRUE(length->is_estimate);
  EXPECT_EQ(length->seconds_left, 7);
}

TEST(RunLengthTest, TakesPassesOfALoaderForNoEpochsWhenNotAllOfThemTrain) {
  const TestRun run = trained({0, 0, 2, 2});
  const auto trial = run.open();
  EXPECT_FALSE(run_length(*trial, {{"epochs", "5"}}).has_value());
}

TEST(RunLengthTest, HasNoTimeLeftOnceTheRunHasEnded) {
  TestRun run = trained({0, 0, 0, 0});
  run.end();
  const auto trial = run.open();
  const auto length = run_length(*trial, {{"total_steps", "10"}});
  ASSERT_TRUE(length.has_value());
  EXPECT_FALSE(length->seconds_left.has_value());
}

}  // namespace
}  // namespace trainwarden::views
