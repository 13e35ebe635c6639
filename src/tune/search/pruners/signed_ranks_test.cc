#include "tune/search/pruners/signed_ranks.h"

#include <gtest/gtest.h>

namespace trainwarden::tune {
namespace {

TEST(SignedRanksTest, ExactByHand) {
  EXPECT_DOUBLE_EQ(signed_rank_p({1, 2, 3, 4}), 1.0 / 16);
  EXPECT_DOUBLE_EQ(signed_rank_p({-1, 2, 3}), 2.0 / 8);  // sums 5 and 6
  EXPECT_DOUBLE_EQ(signed_rank_p({-1, -2, -3}), 1);
  EXPECT_DOUBLE_EQ(signed_rank_p({1, 1, -1}), 4.0 / 8);      // ranks 2, 2, 2: two or three of them
  EXPECT_DOUBLE_EQ(signed_rank_p({0, 1, 2}), 1.0 / 4);       // ranks 2 and 3
  EXPECT_DOUBLE_EQ(signed_rank_p({3, -1, 1, 2}), 3.0 / 16);  // ranks 4, 1.5, 1.5, 3: sums 10, 8.5 and 8.5
}

TEST(SignedRanksTest, NothingIsSaidByNothing) {
  EXPECT_EQ(signed_rank_p({}), 1);
  EXPECT_EQ(signed_rank_p({0, 0, 0}), 1);
  EXPECT_EQ(signed_rank_p(std::vector<double>(30, 0.0)), 1);
}

TEST(SignedRanksTest, ApproximatesMany) {
  std::vector<double> differences;
  for (int i = 1; i <= 20; ++i) differences.push_back(i);
  EXPECT_NEAR(signed_rank_p(differences), 4.784e-5, 1e-8);  // z = 104.5 / sqrt(717.5)
  // Without 20, 19 and 18 above: sum 153, z = 47.5 / sqrt(717.5).
  for (const std::size_t i : {19u, 18u, 17u}) differences[i] = -differences[i];
  EXPECT_NEAR(signed_rank_p(differences), 0.03809, 1e-4);
}

// Where both are known they agree.
TEST(SignedRanksTest, TheApproximationContinuesWhatIsExact) {
  std::vector<double> differences;
  for (int i = 1; i <= 19; ++i) differences.push_back(i % 3 == 0 ? -i : i);
  const double exact = signed_rank_p(differences);
  differences.push_back(0);  // smallest: moves ranks up by one, and adds nothing
  EXPECT_NEAR(signed_rank_p(differences), exact, 0.02);
  EXPECT_GT(exact, 0.05);
  EXPECT_LT(exact, 0.2);
}

}  // namespace
}  // namespace trainwarden::tune
