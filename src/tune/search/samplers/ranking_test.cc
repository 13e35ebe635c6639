#include "tune/search/samplers/ranking.h"

#include <cmath>

#include <gtest/gtest.h>

namespace trainwarden::tune {
namespace {

Space unit_line() {
  return *Space::make({{.name = "x", .min = 0, .max = 1}});
}

StudyTrial ended(TrialState state, std::vector<double> values, std::vector<Intermediate> series = {}) {
  return {.point = {0.5}, .state = state, .values = std::move(values), .series = {std::move(series)}};
}

TEST(RankingTest, OrdersByStateThenByWhatIsKnown) {
  History history{.space = unit_line(),
                  .metrics = {{.name = "f1", .goal = Goal::kMaximize},
                              {.name = "time", .strategy = Strategy::kConstrain, .threshold = 10}}};
  history.trials = {ended(TrialState::kComplete, {0.5, 1}),     ended(TrialState::kComplete, {0.9, 10}),
                    ended(TrialState::kComplete, {0.99, 12}),   ended(TrialState::kComplete, {0.99, 11}),
                    ended(TrialState::kComplete, {NAN, 1}),     ended(TrialState::kPruned, {}, {{1, 0.3}, {4, 0.2}}),
                    ended(TrialState::kPruned, {}, {{9, 0.1}}), ended(TrialState::kPruned, {}),
                    ended(TrialState::kPruned, {}, {{4, 0.4}}), ended(TrialState::kComplete, {0.9, NAN})};
  const std::vector<std::size_t> expected = {1, 0, 4, 6, 8, 5, 7, 3, 2, 9};
  EXPECT_EQ(best_first(history, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), expected);
  EXPECT_EQ(best_first(history, {9, 2, 6, 0}, 2), (std::vector<std::size_t>{0, 6}));
}

TEST(RankingTest, WhatAVerdictEndedIsTheWorst) {
  History history{.space = unit_line(), .metrics = {{.name = "loss"}}};
  history.trials = {ended(TrialState::kPruned, {0}), ended(TrialState::kPruned, {}), ended(TrialState::kComplete, {9})};
  history.trials[0].ended_by_verdict = true;
  history.trials[0].series = {{{1000, 0}}};
  EXPECT_EQ(best_first(history, {0, 1, 2}), (std::vector<std::size_t>{2, 1, 0}));
}

TEST(RankingTest, WhatStandsAtARungCountsAsWhatWasPruned) {
  History history{.space = unit_line(), .metrics = {{.name = "loss"}}};
  history.trials = {ended(TrialState::kPruned, {NAN}, {{4, 0.3}}), ended(TrialState::kPaused, {NAN}, {{4, 0.2}}),
                    ended(TrialState::kRunning, {NAN}, {{8, 0.9}}), ended(TrialState::kComplete, {0.5})};
  history.trials[2].passed_rung = 4;
  EXPECT_EQ(best_first(history, {0, 1, 2, 3}), (std::vector<std::size_t>{3, 2, 1, 0}));
  EXPECT_FALSE(history.trials[1].is_over() || history.trials[2].is_over());
}

TEST(RankingTest, FrontsComeInTurnAndTheLeastCrowdedFirst) {
  History history{.space = unit_line(), .metrics = {{.name = "time"}, {.name = "f1", .goal = Goal::kMaximize}}};
  // The front: (0, 0), (1, 4), (4, 5), (10, 10); of its inner points (4, 5) has the larger box.
  history.trials = {ended(TrialState::kComplete, {1, 4}),   ended(TrialState::kComplete, {5, 4}),
                    ended(TrialState::kComplete, {4, 5}),   ended(TrialState::kComplete, {0, 0}),
                    ended(TrialState::kComplete, {10, 10}), ended(TrialState::kComplete, {6, 3})};
  EXPECT_EQ(best_first(history, {0, 1, 2, 3, 4, 5}), (std::vector<std::size_t>{3, 4, 2, 0, 1, 5}));
}

// Against the definition, which peels front by front.
TEST(RankingTest, RanksAreThoseOfTheDefinition) {
  std::vector<Costs> rows;
  for (int i = 0; i < 200; ++i) rows.push_back({1.0 * (i * 37 % 17), 1.0 * (i * 53 % 13), 1.0 * (i * 71 % 11)});
  const std::vector<std::size_t> ranks = nondominated_ranks(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::size_t expected = 0;
    for (std::size_t j = 0; j < rows.size(); ++j) {
      bool is_as_good = true;
      for (std::size_t k = 0; k < 3; ++k) is_as_good &= rows[j][k] <= rows[i][k];
      if (is_as_good && rows[j] != rows[i]) expected = std::max(expected, ranks[j] + 1);
    }
    EXPECT_EQ(ranks[i], expected) << i;
  }
}

TEST(RankingTest, CrowdingIsTheSideOfTheBox) {
  const std::vector<Costs> rows = {{0, 4}, {1, 2}, {4, 0}};
  const std::vector<double> distances = crowding_distances(rows);
  EXPECT_EQ(distances[0], INFINITY);
  EXPECT_DOUBLE_EQ(distances[1], 2);
  EXPECT_EQ(distances[2], INFINITY);
  EXPECT_TRUE(crowding_distances({}).empty());
}

}  // namespace
}  // namespace trainwarden::tune
