#include "classes/scores.h"

#include <stdexcept>

#include <gtest/gtest.h>

namespace bert {
namespace {

using Numbers = std::vector<std::int64_t>;

// Cohen's own example (1960, table 1): proportions of 200 judgements of three classes, kappa .492.
ClassScores of_cohen() {
  const int counts[3][3] = {{88, 14, 18}, {10, 40, 10}, {2, 6, 12}};
  Numbers actual, predicted;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      actual.insert(actual.end(), static_cast<std::size_t>(counts[i][j]), i);
      predicted.insert(predicted.end(), static_cast<std::size_t>(counts[i][j]), j);
    }
  }
  return {3, actual, predicted};
}

TEST(ScoresTest, AreThoseOfCohensExample) {
  const ClassScores scores = of_cohen();
  EXPECT_EQ(scores.texts(), 200);
  EXPECT_EQ(scores.count(0, 2), 18);
  EXPECT_NEAR(scores.accuracy(), 0.70, 1e-12);
  EXPECT_NEAR(scores.kappa(), (0.70 - 0.41) / (1 - 0.41), 1e-12);
  EXPECT_NEAR(scores.mean_recall(), (88.0 / 120 + 40.0 / 60 + 12.0 / 20) / 3, 1e-12);
  // Observed disagreement: 14+10 and 10+6 one apart, 18+2 two apart; expected from the sums 120, 60, 20 and 100,
  // 60, 40.
  const double expected = (120 * 60 + 60 * 100 + 60 * 40 + 20 * 60 + 4 * (120 * 40 + 20 * 100)) / 200.0;
  EXPECT_NEAR(scores.quadratic_kappa(), 1 - (24 + 16 + 4 * 20) / expected, 1e-12);
}

TEST(ScoresTest, OneClassForAllIsNoMoreThanChance) {
  const ClassScores scores(5, Numbers{0, 1, 2, 3, 3}, Numbers{3, 3, 3, 3, 3});
  EXPECT_NEAR(scores.kappa(), 0, 1e-12);
  EXPECT_NEAR(scores.quadratic_kappa(), 0, 1e-12);
  EXPECT_NEAR(scores.mean_recall(), 0.25, 1e-12) << "class 4 does not occur";
  EXPECT_EQ(ClassScores(2, Numbers{1, 1}, Numbers{1, 1}).kappa(), 0);
  EXPECT_EQ(ClassScores(2, Numbers{}, Numbers{}).accuracy(), 0);
}

TEST(ScoresTest, WhatIsNoClassIsTold) {
  EXPECT_THROW(ClassScores(2, Numbers{2}, Numbers{0}), std::runtime_error);
  EXPECT_THROW(ClassScores(2, Numbers{0}, Numbers{-1}), std::runtime_error);
  EXPECT_THROW(ClassScores(2, Numbers{0, 1}, Numbers{0}), std::runtime_error);
}

}  // namespace
}  // namespace bert
