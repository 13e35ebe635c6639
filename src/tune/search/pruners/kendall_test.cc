#include "tune/search/pruners/kendall.h"

#include <cmath>

#include <gtest/gtest.h>

#include "tune/search/random.h"

namespace trainwarden::tune {
namespace {

using TauPairs = std::vector<std::pair<double, double>>;

// By its definition.
double tau_of_all_pairs(const TauPairs& pairs) {
  double balance = 0, first = 0, second = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double a = pairs[i].first - pairs[j].first, b = pairs[i].second - pairs[j].second;
      balance += (a > 0) == (b > 0) && a != 0 && b != 0 ? 1 : (a != 0 && b != 0 ? -1 : 0);
      first += a != 0, second += b != 0;
    }
  }
  return balance / std::sqrt(first * second);
}

TEST(KendallTest, ByHand) {
  EXPECT_DOUBLE_EQ(kendall_tau_b({{1, 1}, {2, 3}, {3, 2}, {4, 4}}), 4.0 / 6);
  EXPECT_DOUBLE_EQ(kendall_tau_b({{1, 1}, {2, 2}, {2, 3}, {3, 3}}), 0.8);  // 4 of 6, a tie on each side
  EXPECT_DOUBLE_EQ(kendall_tau_b({{3, 1}, {2, 2}, {1, 3}}), -1);
  EXPECT_TRUE(std::isnan(kendall_tau_b({{1, 1}, {1, 2}})));
  EXPECT_TRUE(std::isnan(kendall_tau_b({})));
}

TEST(KendallTest, IsThatOfAllPairs) {
  Random random(5);
  for (int round = 0; round < 20; ++round) {
    TauPairs pairs;
    for (int i = 0; i < 60; ++i) {
      const auto first = static_cast<double>(random.below(20));
      pairs.emplace_back(first, std::floor(first / 3) + static_cast<double>(random.below(6)));
    }
    EXPECT_NEAR(kendall_tau_b(pairs), tau_of_all_pairs(pairs), 1e-12);
  }
}

}  // namespace
}  // namespace trainwarden::tune
