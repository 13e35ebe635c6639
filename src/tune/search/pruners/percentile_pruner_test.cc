#include "tune/search/pruners/percentile_pruner.h"

#include <cmath>

#include "tune/search/pruners/curves_testing.h"

namespace trainwarden::tune {
namespace {

// Complete trials with these values at step 3.
History third_values(History history, const std::vector<double>& values) {
  for (const double value : values) add_complete(history, {9, 9, value, 0});
  return history;
}

PruneAnswer percentile_answer(History history, const std::vector<double>& values, const PercentileOptions& options) {
  const std::size_t trial = add_running(history, values);
  return make_percentile_pruner(options)->judge(history, trial);
}

TEST(MedianPrunerTest, EndsWhatIsWorseThanTheMedianAtTheSameStep) {
  const History history = third_values(minimized_loss(), {5, 1, 4, 2, 3});
  const PruneAnswer answer = percentile_answer(history, {9, 9, 3.5}, {});
  EXPECT_TRUE(answer.prune);
  EXPECT_EQ(answer.why, "loss 3.5, its best up to step 3, is above the median 3 of 5 trials");
  EXPECT_FALSE(percentile_answer(history, {9, 9, 3}, {}).prune);
  EXPECT_FALSE(percentile_answer(history, {1, 9, 9}, {}).prune);  // it was as good before
  EXPECT_FALSE(percentile_answer(history, {9, 9}, {}).prune);     // as all were there
  EXPECT_TRUE(percentile_answer(history, {9, 9, NAN}, {}).prune);
}

TEST(MedianPrunerTest, TheGoalSaysWhatIsWorse) {
  const History history = third_values(maximized_f1(), {11, 12, 13, 14, 15});
  const PruneAnswer answer = percentile_answer(history, {9, 9, 12.5}, {});
  EXPECT_TRUE(answer.prune);
  EXPECT_EQ(answer.why, "f1 12.5, its best up to step 3, is below the median 13 of 5 trials");
  EXPECT_FALSE(percentile_answer(history, {9, 9, 13}, {}).prune);
}

TEST(MedianPrunerTest, WaitsForCompleteTrials) {
  History history = third_values(minimized_loss(), {1, 1, 1, 1});
  for (int i = 0; i < 5; ++i)
    add_flat(history, TrialState::kPruned, 1, 3), add_flat(history, TrialState::kRunning, 1, 3);
  EXPECT_FALSE(percentile_answer(history, {9, 9, 9}, {}).prune);
  EXPECT_TRUE(percentile_answer(history, {9, 9, 9}, {.startup_trials = 4}).prune);
  EXPECT_FALSE(percentile_answer(history, {9, 9, 9}, {.startup_trials = 4, .warmup_steps = 4}).prune);
  EXPECT_FALSE(percentile_answer(history, {9, 9, 9}, {.startup_trials = 4, .min_trials = 5}).prune);
}

TEST(MedianPrunerTest, WhatAVerdictEndedOrFailedIsNotCompared) {
  History history = third_values(minimized_loss(), {5, 5, 5, 5, 5});
  for (int i = 0; i < 9; ++i) add_ended_by_verdict(history, 1, 4), add_flat(history, TrialState::kFailed, 1, 4);
  EXPECT_FALSE(percentile_answer(history, {9, 9, 4}, {}).prune);
  EXPECT_EQ(percentile_answer(history, {9, 9, 6}, {}).why,
            "loss 6, its best up to step 3, is above the median 5 of 5 trials");
}

TEST(MedianPrunerTest, JudgesAtTheLastStepOfAnInterval) {
  const History history = third_values(minimized_loss(), {1, 1, 1, 1, 1});
  EXPECT_FALSE(percentile_answer(history, {9, 9, 9}, {.warmup_steps = 2, .interval_steps = 2}).prune);
  EXPECT_TRUE(percentile_answer(history, {9, 9, 9, 9}, {.warmup_steps = 2, .interval_steps = 2}).prune);
  EXPECT_TRUE(percentile_answer(history, {9, 9, 9, 9}, {.warmup_steps = 1, .interval_steps = 2}).prune);  // at step 3
}

TEST(MedianPrunerTest, StepsNeedNotBeTheSame) {
  History history = minimized_loss();
  for (const double value : {1.0, 2.0, 3.0}) {
    add_trial(history, TrialState::kComplete, {{{10, value}, {30, 0}}});
    add_trial(history, TrialState::kComplete, {{{25, 0}, {30, 0}}});  // says nothing about step 20
  }
  const std::size_t trial = add_trial(history, TrialState::kRunning, {{{20, 2.5}}});
  EXPECT_EQ(make_percentile_pruner()->judge(history, trial).why,
            "loss 2.5, its best up to step 20, is above the median 2 of 3 trials");
}

TEST(PercentilePrunerTest, KeepsTheBestQuarter) {
  const PercentileOptions quarter{.percentile = 25};
  const History losses = third_values(minimized_loss(), {1, 2, 3, 4, 5});
  EXPECT_FALSE(percentile_answer(losses, {9, 9, 2}, quarter).prune);
  EXPECT_EQ(percentile_answer(losses, {9, 9, 2.5}, quarter).why,
            "loss 2.5, its best up to step 3, is above 2, the limit of the best 25 % of 5 trials");
  const History scores = third_values(maximized_f1(), {11, 12, 13, 14, 15, 16});
  EXPECT_FALSE(percentile_answer(scores, {9, 9, 14.75}, quarter).prune);  // between 14 and 15, as numpy has it
  EXPECT_TRUE(percentile_answer(scores, {9, 9, 14.7}, quarter).prune);
  EXPECT_TRUE(percentile_answer(losses, {9, 9, 5.1}, {.percentile = 100}).prune);
}

TEST(PercentilePrunerTest, InfinitelyBadIsTheWorst) {
  const History history = third_values(minimized_loss(), {1, INFINITY, INFINITY, INFINITY, 2});
  EXPECT_FALSE(percentile_answer(history, {9, 9, 9}, {}).prune);  // the median is infinite
  EXPECT_TRUE(percentile_answer(history, {9, 9, 9}, {.percentile = 25}).prune);
}

}  // namespace
}  // namespace trainwarden::tune
