#include "tune/search/pruners/hyperband_pruner.h"

#include <cmath>

#include "tune/search/pruners/curves_testing.h"

namespace trainwarden::tune {
namespace {

TEST(HyperbandPrunerTest, SharesAreThoseOfThePaper) {
  EXPECT_EQ(bracket_shares(1, 81, 3), (std::vector<std::uint64_t>{81, 34, 15, 8, 5}));
  EXPECT_EQ(bracket_shares(1, 80, 3), (std::vector<std::uint64_t>{27, 12, 6, 4}));
  EXPECT_EQ(bracket_shares(3, 81, 3), (std::vector<std::uint64_t>{27, 12, 6, 4}));
  EXPECT_EQ(bracket_shares(100, 81, 3), (std::vector<std::uint64_t>{1}));
}

TEST(HyperbandPrunerTest, TrialsAreDrawnByTheShares) {
  const auto shares = bracket_shares(1, 27, 3);  // of 49
  std::vector<int> counts(4);
  for (std::int64_t number = 0; number < 4900; ++number) ++counts[bracket_of(shares, 11, number)];
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(counts[i], 100.0 * static_cast<double>(shares[i]),
                5 * std::sqrt(100.0 * static_cast<double>(shares[i])));
  }
  int moved = 0;
  for (std::int64_t number = 0; number < 100; ++number) {
    moved += bracket_of(shares, 11, number) != bracket_of(shares, 12, number) ? 1 : 0;
  }
  EXPECT_GT(moved, 20);
}

// 300 trials with the costs 1, 2, ... and 27 steps of which `steps` are run.
History costs_in_order(std::size_t steps) {
  History history = minimized_loss();
  for (int i = 1; i <= 300; ++i) add_flat(history, TrialState::kRunning, i, steps);
  return history;
}

TEST(HyperbandPrunerTest, EachBracketIsHalvedByItself) {
  const auto pruner = make_hyperband_pruner({.max_resource = 27});
  const auto shares = bracket_shares(1, 27, 3);
  for (const std::size_t steps : {1u, 3u, 9u, 27u}) {
    const History history = costs_in_order(steps);
    std::vector<int> trials(4), left(4);
    for (std::size_t i = 0; i < history.trials.size(); ++i) {
      const std::size_t bracket = bracket_of(shares, history.seed, history.trials[i].number);
      ++trials[bracket];
      left[bracket] += pruner->judge(history, i).prune ? 0 : 1;
    }
    for (std::size_t bracket = 0; bracket < 4; ++bracket) {
      const bool is_on_rung = static_cast<double>(steps) >= std::pow(3, bracket);
      EXPECT_EQ(left[bracket], is_on_rung ? trials[bracket] / 3 : trials[bracket]) << steps << " " << bracket;
    }
  }
}

TEST(HyperbandPrunerTest, WhatAVerdictEndedIsNoRival) {
  History history = costs_in_order(27);
  const auto pruner = make_hyperband_pruner({.max_resource = 27});
  const auto pruned = [&] {
    int count = 0;
    for (std::size_t i = 200; i < 300; ++i) count += pruner->judge(history, i).prune ? 1 : 0;
    return count;
  };
  EXPECT_EQ(pruned(), 100);
  for (std::size_t i = 0; i < 200; ++i) {
    history.trials[i].state = TrialState::kPruned;
    history.trials[i].ended_by_verdict = true;
  }
  EXPECT_LT(pruned(), 80);  // a third of each bracket of the hundred that are left goes on
}

TEST(HyperbandPrunerTest, NeedsToKnowTheLongest) {
  History history = costs_in_order(27);
  const auto pruner = make_hyperband_pruner();
  const auto pruned = [&] {
    int count = 0;
    for (std::size_t i = 0; i < 300; ++i) count += pruner->judge(history, i).prune ? 1 : 0;
    return count;
  };
  EXPECT_EQ(pruned(), 0);
  add_flat(history, TrialState::kComplete, 1000, 26);
  EXPECT_GT(pruned(), 190);
  EXPECT_NE(pruner->judge(history, 299).why.find("(bracket "), std::string::npos);
  EXPECT_TRUE(pruner->judge(history, add_running(history, {NAN})).prune);
}

TEST(HyperbandPrunerTest, ChecksTheFidelity) {
  History history = minimized_loss();
  for (int i = 0; i < 60; ++i) {
    std::vector<double> values;
    for (int step = 1; step <= 80; ++step) values.push_back(step < 40 ? i : 60 - i);
    add_complete(history, values);
  }
  for (int i = 0; i < 20; ++i) add_flat(history, TrialState::kRunning, 100, 9);
  const auto checking = make_hyperband_pruner(), trusting = make_hyperband_pruner({.check_fidelity = false});
  int pruned = 0;
  for (std::size_t i = 60; i < 80; ++i) {
    EXPECT_FALSE(checking->judge(history, i).prune);
    pruned += trusting->judge(history, i).prune ? 1 : 0;
  }
  EXPECT_GT(pruned, 10);
}

}  // namespace
}  // namespace trainwarden::tune
