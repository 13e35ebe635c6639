#include "tune/search/pruners/asha_pruner.h"

#include <cmath>

#include "tune/search/pruners/curves_testing.h"
#include "tune/search/pruners/rungs.h"

namespace trainwarden::tune {
namespace {

PruneAnswer asha_answer(const History& history, std::size_t trial, const AshaOptions& options = {.min_resource = 1}) {
  return make_asha_pruner(options)->judge(history, trial);
}

TEST(RungsTest, AreInEqualRatios) {
  const Rungs rungs{5, 4};
  EXPECT_FALSE(rungs.last_at(4));
  EXPECT_EQ(rungs.last_at(5), 5);
  EXPECT_EQ(rungs.last_at(19), 5);
  EXPECT_EQ(rungs.last_at(20), 20);
  EXPECT_EQ(rungs.last_at(1000), 320);
  EXPECT_EQ(rungs.without(2).first, 80);
  EXPECT_EQ(rungs.without(100).first, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ((Rungs{1, 2}.last_at(std::numeric_limits<std::int64_t>::max())), std::int64_t{1} << 62);
}

TEST(AshaPrunerTest, OneOfFourGoesOn) {
  History history = minimized_loss();
  for (int i = 1; i <= 8; ++i) add_flat(history, TrialState::kRunning, i, 5);
  EXPECT_FALSE(asha_answer(history, 0).prune);
  EXPECT_FALSE(asha_answer(history, 1).prune);
  EXPECT_TRUE(asha_answer(history, 2).prune);
  EXPECT_EQ(asha_answer(history, 2).why, "loss 3 at step 4 has rank 3 of 8 trials there; the best 2 go on");
  history.trials.resize(7);
  EXPECT_EQ(asha_answer(history, 1).why, "loss 2 at step 4 has rank 2 of 7 trials there; only the best goes on");
}

TEST(AshaPrunerTest, TheGoalSaysWhatIsBest) {
  History history = maximized_f1();
  for (int i = 1; i <= 4; ++i) add_flat(history, TrialState::kRunning, i, 4);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(asha_answer(history, i).prune);
  EXPECT_FALSE(asha_answer(history, 3).prune);
}

TEST(AshaPrunerTest, ComparesAtTheRungAndNotWhatCameLater) {
  History history = minimized_loss();
  add_trial(history, TrialState::kRunning, {{{1, 9}, {3, 5}, {9, 1}}});  // 5 at step 4, by step 3
  add_trial(history, TrialState::kPruned, {{{1, 9}, {4, 4}}});
  EXPECT_EQ(asha_answer(history, 0).why, "loss 5 at step 4 has rank 2 of 2 trials there; only the best goes on");
  history.trials[1].series[0][1].value = 5;
  EXPECT_FALSE(asha_answer(history, 0).prune);  // as good
}

TEST(AshaPrunerTest, WhoFailedOrHasNotReachedTheRungIsNoRival) {
  History history = minimized_loss();
  add_flat(history, TrialState::kRunning, 5, 16);
  add_flat(history, TrialState::kFailed, 1, 16);
  add_flat(history, TrialState::kPruned, 1, 15);
  add_trial(history, TrialState::kRunning, {{{17, 1}}});
  EXPECT_FALSE(asha_answer(history, 0).prune);
  add_flat(history, TrialState::kComplete, 1, 15);  // its last value is its value
  EXPECT_TRUE(asha_answer(history, 0).prune);
}

TEST(AshaPrunerTest, WhatAVerdictEndedIsNoRival) {
  History history = minimized_loss();
  add_flat(history, TrialState::kRunning, 5, 16);
  for (int i = 0; i < 8; ++i) add_ended_by_verdict(history, 1, 16);
  EXPECT_FALSE(asha_answer(history, 0).prune);
  add_flat(history, TrialState::kPruned, 1, 16);
  EXPECT_EQ(asha_answer(history, 0).why, "loss 5 at step 16 has rank 2 of 2 trials there; only the best goes on");
}

TEST(AshaPrunerTest, TheFirstRungIsAHundredthOfTheLongest) {
  History history = minimized_loss();
  const std::size_t trial = add_flat(history, TrialState::kRunning, 5, 9);
  add_flat(history, TrialState::kRunning, 1, 9);
  EXPECT_FALSE(asha_answer(history, trial, {}).prune);  // not known yet
  add_flat(history, TrialState::kComplete, 2, 1000);
  EXPECT_FALSE(asha_answer(history, trial, {}).prune);
  history.trials[trial].series[0].push_back({10, 5});
  EXPECT_TRUE(asha_answer(history, trial, {}).prune);
}

TEST(AshaPrunerTest, LeavesOutRungs) {
  History history = minimized_loss();
  add_flat(history, TrialState::kRunning, 5, 15);
  add_flat(history, TrialState::kRunning, 1, 16);
  EXPECT_TRUE(asha_answer(history, 0).prune);
  EXPECT_FALSE(asha_answer(history, 0, {.min_resource = 1, .early_stopping = 2}).prune);
  history.trials[0].series[0].push_back({16, 5});
  EXPECT_TRUE(asha_answer(history, 0, {.min_resource = 1, .early_stopping = 2}).prune);
}

TEST(AshaPrunerTest, ANewestValueThatIsNoNumberPrunes) {
  History history = minimized_loss();
  EXPECT_EQ(asha_answer(history, add_running(history, {1, NAN}), {}).why,
            "loss is nan at step 2, which is no number to compare");
  EXPECT_TRUE(asha_answer(history, add_running(history, {-INFINITY}), {}).prune);
  EXPECT_FALSE(asha_answer(history, add_running(history, {NAN, 1})).prune);
  EXPECT_TRUE(asha_answer(history, add_running(history, {INFINITY})).prune);  // the worst
}

// Who is worse until step 50 is better from there on, and the last one wins.
class AshaCrossingTest : public testing::Test {
 protected:
  History crossing(int complete) {
    History history = minimized_loss();
    for (int i = 0; i < complete; ++i) {
      std::vector<double> values;
      for (int step = 1; step <= 100; ++step) values.push_back(step < 50 ? i : 20 - i);
      add_complete(history, values);
    }
    return history;
  }
  AshaOptions trusting() { return {.min_resource = 1, .check_fidelity = false}; }
};

TEST_F(AshaCrossingTest, TheLaterWinnerGoesOn) {
  History history = crossing(10);
  const std::size_t winner = add_flat(history, TrialState::kRunning, 10, 1);
  for (std::int64_t step = 2; step <= 100; ++step) {
    history.trials[winner].series[0].push_back({step, step < 50 ? 10.0 : 1.0});
    EXPECT_FALSE(asha_answer(history, winner).prune) << step;
    EXPECT_EQ(asha_answer(history, winner, trusting()).prune, step < 64) << step;
  }
}

TEST_F(AshaCrossingTest, BehindTheTrustedStepItPrunes) {
  History history = crossing(10);
  const std::size_t loser = add_flat(history, TrialState::kRunning, 30, 63);
  EXPECT_FALSE(asha_answer(history, loser).prune);
  history.trials[loser].series[0].push_back({64, 30});
  EXPECT_TRUE(asha_answer(history, loser).prune);
}

TEST_F(AshaCrossingTest, WithFewCompleteTrialsItPrunesAsUsual) {
  History history = crossing(7);
  EXPECT_TRUE(asha_answer(history, add_flat(history, TrialState::kRunning, 10, 4)).prune);
}

}  // namespace
}  // namespace trainwarden::tune
