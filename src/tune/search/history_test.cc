#include "tune/search/history.h"

#include <cmath>

#include <gtest/gtest.h>

namespace trainwarden::tune {
namespace {

Space line() {
  return *Space::make({{.name = "x", .min = 0, .max = 1}});
}

StudyTrial complete(std::int64_t number, std::vector<double> values) {
  return {.number = number, .point = {0.5}, .state = TrialState::kComplete, .values = std::move(values)};
}

TEST(HistoryTest, TheBestIsThatOfTheGoal) {
  History history{.space = line(), .metrics = {{.name = "accuracy", .goal = Goal::kMaximize}}};
  EXPECT_FALSE(best_of(history));
  history.trials = {complete(0, {0.4}), complete(1, {NAN}), complete(2, {0.9}), complete(3, {0.9}),
                    complete(4, {INFINITY})};
  history.trials.push_back({.number = 5, .point = {0.5}, .state = TrialState::kPruned, .values = {0.99}});
  EXPECT_EQ(best_of(history), 2u);
}

TEST(HistoryTest, ConstraintsDecideWhatCounts) {
  History history{
      .space = line(),
      .metrics = {{.name = "time"},
                  {.name = "f1", .goal = Goal::kMaximize, .strategy = Strategy::kConstrain, .threshold = 90},
                  {.name = "memory", .strategy = Strategy::kStore}}};
  history.trials = {complete(0, {5, 80, NAN}), complete(1, {20, 91, NAN}), complete(2, {10, 90, 1}),
                    complete(3, {1, NAN, 1})};
  EXPECT_EQ(violation_of(history, history.trials[0]), 10);
  EXPECT_EQ(violation_of(history, history.trials[2]), 0);
  EXPECT_TRUE(std::isnan(violation_of(history, history.trials[3])));
  EXPECT_EQ(best_of(history), 2u);
}

TEST(HistoryTest, TheFrontIsWhatNothingDominates) {
  History history{.space = line(), .metrics = {{.name = "time"}, {.name = "f1", .goal = Goal::kMaximize}}};
  history.trials = {complete(0, {5, 80}), complete(1, {6, 79}), complete(2, {10, 90}), complete(3, {5, 80}),
                    complete(4, {1, NAN})};
  EXPECT_EQ(pareto_front(history), (std::vector<std::size_t>{0, 2, 3}));
  EXPECT_FALSE(best_of(history));
}

}  // namespace
}  // namespace trainwarden::tune
