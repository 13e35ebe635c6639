#include "tune/search/pruners/fidelity.h"

#include <cmath>

#include "tune/search/pruners/curves_testing.h"

namespace trainwarden::tune {
namespace {

// Until `crossing` the reverse of what they are from there on; 100 steps.
History crossing_curves(int trials, int crossing) {
  History history = minimized_loss();
  for (int i = 0; i < trials; ++i) {
    std::vector<double> values;
    for (int step = 1; step <= 100; ++step) values.push_back(step < crossing ? i : trials - i);
    add_complete(history, values);
  }
  return history;
}

TEST(RankAgreementTest, ByHand) {
  History history = minimized_loss();
  for (const auto& values : std::vector<std::vector<double>>{{1, 1}, {2, 3}, {3, 2}, {4, 4}, {5, 5}, {6, 6}}) {
    add_complete(history, values);
  }
  const RankAgreement agreement = rank_agreement(history, 1);
  EXPECT_EQ(agreement.trials, 6u);
  EXPECT_NEAR(agreement.tau, 13.0 / 15, 1e-12);
  const double deviation = std::sqrt(0.437 / 2);
  EXPECT_NEAR(agreement.standard_error, (1 - 169.0 / 225) * deviation, 1e-12);
  EXPECT_NEAR(agreement.lower, std::tanh(0.5 * std::log(28.0 / 2) - 1.64485 * deviation), 1e-4);
  EXPECT_EQ(rank_agreement(history, 2).tau, 1);
  EXPECT_EQ(rank_agreement(history, 2).lower, 1);
}

TEST(RankAgreementTest, SaysNothingOfTooFew) {
  History history = minimized_loss();
  EXPECT_EQ(rank_agreement(history, 1).trials, 0u);
  add_complete(history, {1, 2});
  add_complete(history, {2, NAN});
  add_trial(history, TrialState::kComplete, {{}});
  const RankAgreement agreement = rank_agreement(history, 1);
  EXPECT_EQ(agreement.trials, 1u);
  EXPECT_TRUE(std::isnan(agreement.tau));
  EXPECT_EQ(agreement.lower, -1);
  EXPECT_EQ(rank_agreement(history_of({}), 1).trials, 0u);
}

TEST(TrustedStepTest, IsBehindTheCrossing) {
  EXPECT_EQ(trusted_step(crossing_curves(10, 50)), 62);  // 100, 78, 62, 48, ...
  EXPECT_EQ(trusted_step(crossing_curves(10, 1)), 1);
  EXPECT_FALSE(trusted_step(crossing_curves(7, 50)));
}

TEST(TrustedStepTest, LooksAtNothingThatAVerdictEnded) {
  History history = crossing_curves(7, 50);
  for (int i = 0; i < 9; ++i) add_ended_by_verdict(history, i, 100);
  EXPECT_FALSE(trusted_step(history));
  EXPECT_EQ(rank_agreement(history, 100).trials, 7u);
}

TEST(TrustedStepTest, IsNowhereWhereTheEndSaysNothing) {
  History history = crossing_curves(10, 50);
  for (StudyTrial& trial : history.trials) trial.values[0] = static_cast<double>(trial.number % 3);
  EXPECT_EQ(trusted_step(history), kNoTrustedStep);
}

TEST(TrustedStepTest, LivesWithTrialsOfAStepOrTwo) {
  History history = minimized_loss();
  for (int i = 0; i < 9; ++i) add_trial(history, TrialState::kComplete, {{{0, static_cast<double>(i)}}});
  EXPECT_EQ(trusted_step(history), 1);
  for (int i = 0; i < 9; ++i) add_flat(history, TrialState::kComplete, i, 3);
  EXPECT_EQ(trusted_step(history), 1);
}

TEST(TrustedStepTest, IsComputedAnewWhenAnotherTrialIsComplete) {
  History history = crossing_curves(10, 50);
  History shorter = history;
  shorter.trials.resize(7);
  TrustedStep trusted(true), unchecked(false);
  EXPECT_EQ(trusted.of(shorter), 0);
  EXPECT_EQ(trusted.of(history), 62);
  add_running(history, {1, 2});
  EXPECT_EQ(trusted.of(history), 62);
  EXPECT_EQ(trusted.of(shorter), 0);
  EXPECT_EQ(unchecked.of(history), 0);
}

}  // namespace
}  // namespace trainwarden::tune
