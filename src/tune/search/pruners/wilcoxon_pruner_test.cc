#include "tune/search/pruners/wilcoxon_pruner.h"

#include <cmath>

#include "tune/search/pruners/curves_testing.h"

namespace trainwarden::tune {
namespace {

PruneAnswer wilcoxon_answer(History history, const std::vector<double>& values, const WilcoxonOptions& options = {}) {
  const std::size_t trial = add_running(history, values);
  return make_wilcoxon_pruner(options)->judge(history, trial);
}

// A complete trial with these scores of samples, and their mean.
void add_scored(History& history, const std::vector<double>& scores) {
  const std::size_t index = add_complete(history, scores);
  double sum = 0;
  for (const double score : scores) sum += score;
  history.trials[index].values = {sum / static_cast<double>(scores.size())};
}

TEST(WilcoxonPrunerTest, EndsWhatIsWorseSampleBySample) {
  History history = minimized_loss();
  add_scored(history, {9, 9, 9, 9});
  add_scored(history, {1, 2, 3, 4, 5});
  const PruneAnswer answer = wilcoxon_answer(history, {2, 4, 6, 8});
  EXPECT_TRUE(answer.prune);
  EXPECT_EQ(answer.why, "loss, mean 5 so far, is worse than trial 1 (mean 3) on 4 common steps, p 0.062 below 0.1");
  EXPECT_FALSE(wilcoxon_answer(history, {2, 4, 6}).prune);     // p 1/8
  EXPECT_FALSE(wilcoxon_answer(history, {0, 4, 6, 8}).prune);  // p 2/16
  EXPECT_TRUE(wilcoxon_answer(history, {0, 4, 6, 8}, {.p_threshold = 0.2}).prune);
  EXPECT_FALSE(wilcoxon_answer(history, {2, 4, 6, 8}, {.startup_steps = 5}).prune);
}

TEST(WilcoxonPrunerTest, TheGoalSaysWhatIsWorse) {
  History history = maximized_f1();
  add_scored(history, {0.9, 0.8, 0.7, 0.6});
  EXPECT_TRUE(wilcoxon_answer(history, {0.8, 0.6, 0.4, 0.2}).prune);
  EXPECT_FALSE(wilcoxon_answer(history, {0.95, 0.9, 0.85, 0.8}).prune);
}

TEST(WilcoxonPrunerTest, ABetterMeanGoesOn) {
  History history = minimized_loss();
  add_scored(history, {1, 2, 3, 4, 90});
  EXPECT_FALSE(wilcoxon_answer(history, {2, 4, 6, 8}).prune);
}

TEST(WilcoxonPrunerTest, ComparesCommonStepsAlone) {
  History history = minimized_loss();
  add_scored(history, {1, 1, 1, 1, 1});
  const std::size_t trial = add_trial(history, TrialState::kRunning, {{{0, 5}, {2, 5}, {3, 6}, {4, 7}, {9, 9}}});
  EXPECT_FALSE(make_wilcoxon_pruner()->judge(history, trial).prune);
  history.trials[trial].series[0][4] = {5, 9};
  EXPECT_TRUE(make_wilcoxon_pruner()->judge(history, trial).prune);
}

TEST(WilcoxonPrunerTest, OnlyAFeasibleTrialIsTheBest) {
  History history = history_of({{.name = "loss"}, {.name = "time", .strategy = Strategy::kConstrain, .threshold = 5}});
  add_scored(history, {1, 2, 3, 4, 5});
  history.trials[0].values.push_back(9);
  EXPECT_FALSE(wilcoxon_answer(history, {2, 4, 6, 8}).prune);
  history.trials[0].values[1] = 4;
  EXPECT_TRUE(wilcoxon_answer(history, {2, 4, 6, 8}).prune);
}

TEST(WilcoxonPrunerTest, WhatAVerdictEndedIsNeverTheBest) {
  History history = minimized_loss();
  history.trials[add_ended_by_verdict(history, 0, 4)].values = {0};
  EXPECT_FALSE(wilcoxon_answer(history, {2, 4, 6, 8}).prune);
}

TEST(WilcoxonPrunerTest, DoesNotJudgeWhatIsNoNumber) {
  History history = minimized_loss();
  add_scored(history, {1, 2, 3, 4});
  EXPECT_FALSE(wilcoxon_answer(history, {2, 4, 6, 8, NAN}).prune);
  EXPECT_FALSE(wilcoxon_answer(history, {2, 4, 6, 8, INFINITY}).prune);
  history.trials[0].series[0][0].value = NAN;
  EXPECT_FALSE(wilcoxon_answer(history, {2, 4, 6, 8}).prune);
}

}  // namespace
}  // namespace trainwarden::tune
