#include "tune/search/pruners/curve.h"

#include <cmath>

#include "tune/search/pruners/curves_testing.h"

namespace trainwarden::tune {
namespace {

TEST(CurveTest, TheValueAtAStepIsTheLastAtOrBefore) {
  History history = maximized_f1();
  add_trial(history, TrialState::kRunning, {{{10, 0.1}, {20, 0.2}, {30, NAN}, {40, 0.4}}});
  const auto cost = [&](std::int64_t step) { return cost_at_step(history, history.trials[0], 0, step); };
  EXPECT_TRUE(std::isnan(cost(9)));
  EXPECT_EQ(cost(10), -0.1);
  EXPECT_EQ(cost(29), -0.2);
  EXPECT_TRUE(std::isnan(cost(30)));
  EXPECT_EQ(cost(40), -0.4);
  EXPECT_TRUE(std::isnan(cost(41)));  // not reached
  history.trials[0].state = TrialState::kComplete;
  EXPECT_EQ(cost(41), -0.4);
  EXPECT_TRUE(std::isnan(cost_at_step(history, history.trials[0], 1, 10)));
}

TEST(CurveTest, InfinitelyGoodIsNoNumber) {
  const StudyMetric loss{.name = "loss"}, f1{.name = "f1", .goal = Goal::kMaximize};
  EXPECT_TRUE(std::isnan(sound_cost(loss, -INFINITY)));
  EXPECT_TRUE(std::isnan(sound_cost(f1, INFINITY)));
  EXPECT_EQ(sound_cost(loss, INFINITY), INFINITY);
  EXPECT_EQ(sound_cost(f1, -INFINITY), INFINITY);
}

TEST(CurveTest, TheBestUpToAStep) {
  History history = minimized_loss();
  add_running(history, {NAN, 3, 1, 2, 0});
  const auto best = [&](std::int64_t step) { return best_cost_until(history, history.trials[0], 0, step); };
  EXPECT_TRUE(std::isnan(best(1)));
  EXPECT_EQ(best(2), 3);
  EXPECT_EQ(best(4), 1);
  EXPECT_EQ(best(9), 0);
}

TEST(CurveTest, OnlyCompleteTrialsSayHowLongOneIs) {
  History history = minimized_loss();
  add_flat(history, TrialState::kPruned, 1, 500);
  EXPECT_FALSE(longest_complete(history, 0));
  add_flat(history, TrialState::kComplete, 1, 30);
  add_flat(history, TrialState::kComplete, 1, 20);
  EXPECT_EQ(longest_complete(history, 0), 30);
}

}  // namespace
}  // namespace trainwarden::tune
