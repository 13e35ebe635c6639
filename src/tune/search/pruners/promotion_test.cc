#include "tune/search/pruners/promotion.h"

#include "tune/search/pruners/all.h"
#include "tune/search/pruners/curves_testing.h"
#include "tune/search/pruners/hyperband_pruner.h"

namespace trainwarden::tune {
namespace {

std::unique_ptr<TrialPruner> pruner_of(const std::string& text) {
  auto pruner = make_pruner(text);
  EXPECT_TRUE(pruner.ok()) << pruner.status().to_string();
  return *std::move(pruner);
}

std::unique_ptr<TrialPruner> halving() {
  return pruner_of("asha:min_resource=1,reduction_factor=2,check_fidelity=false,pause=true");
}

// Trials with these costs that stand at the first rung.
History paused_with(const std::vector<double>& costs) {
  History history = minimized_loss();
  for (const double cost : costs) add_flat(history, TrialState::kPaused, cost, 1);
  return history;
}

TEST(PromotionTest, WhoeverComesFirstWaits) {
  History history = minimized_loss();
  add_flat(history, TrialState::kRunning, 0.5, 1);
  const PruneAnswer answer = halving()->judge(history, 0);
  EXPECT_TRUE(answer.pause);
  EXPECT_FALSE(answer.prune);
  EXPECT_EQ(answer.why, "loss 0.5 at step 1 has rank 1 of 1 trials there; the best of 2 goes on");
  EXPECT_FALSE(halving()->next_promotion(history, false));
}

TEST(PromotionTest, WhoArrivesAmongTheBestPassesAndIsNotAskedAgainBeforeTheNextRung) {
  History history = paused_with({0.5});
  const std::size_t trial = add_flat(history, TrialState::kRunning, 0.4, 1);
  const PruneAnswer passes = halving()->judge(history, trial);
  EXPECT_EQ(passes.rung, 1);
  EXPECT_FALSE(passes.pause || passes.prune);
  history.trials[trial].passed_rung = 1;
  add_flat(history, TrialState::kPaused, 0.1, 1);  // others become better than it
  add_flat(history, TrialState::kPaused, 0.2, 1);
  EXPECT_FALSE(halving()->judge(history, trial).pause);
  EXPECT_EQ(halving()->judge(history, trial).rung, 0);
  history.trials[trial].series[0].push_back({2, 0.3});
  EXPECT_TRUE(halving()->judge(history, trial).pause);
}

// By algorithm 2 of the paper, with eta = 2 and costs 1, 2, ... for trials in this order.
TEST(PromotionTest, AHalfIsPromotedAndTheBestFirst) {
  History history = paused_with({4, 1, 3, 2});
  std::vector<std::size_t> promoted;
  while (const auto next = halving()->next_promotion(history, false)) {
    promoted.push_back(next->trial);
    EXPECT_EQ(next->rung, 1);
    history.trials[next->trial].state = TrialState::kRunning;
    history.trials[next->trial].passed_rung = next->rung;
    ASSERT_LE(promoted.size(), 4u);
  }
  EXPECT_EQ(promoted, (std::vector<std::size_t>{1, 3}));
}

TEST(PromotionTest, LaterResultsPromoteWhatWaits) {
  History history = paused_with({2, 1, 3});
  history.trials[1].state = TrialState::kRunning;
  history.trials[1].passed_rung = 1;
  EXPECT_FALSE(halving()->next_promotion(history, false));
  add_flat(history, TrialState::kPaused, 9, 1);
  const auto next = halving()->next_promotion(history, false);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->trial, 0u);
  EXPECT_EQ(next->why, "loss 2 at step 1 has rank 2 of 4 trials there: the best 2 go on");
}

TEST(PromotionTest, TheHighestRungComesFirst) {
  History history = paused_with({1, 2, 3, 4});
  for (const double cost : {8, 9}) {
    const std::size_t trial = add_flat(history, TrialState::kPaused, cost, 2);
    history.trials[trial].passed_rung = 1;
  }
  const auto next = halving()->next_promotion(history, false);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->trial, 4u);
  EXPECT_EQ(next->rung, 2);
}

TEST(PromotionTest, EqualOnesGoByTheirNumbersAndFailedOnesDoNotCount) {
  History history = paused_with({1, 1, 1, 1});
  add_flat(history, TrialState::kFailed, 0, 1);
  EXPECT_EQ(halving()->next_promotion(history, false)->trial, 0u);
  EXPECT_EQ(halving()->next_promotion(history, false)->why,
            "loss 1 at step 1 has rank 1 of 4 trials there: the best 2 go on");
}

TEST(PromotionTest, AStudyEndsWithAResult) {
  History history = paused_with({3});
  EXPECT_FALSE(halving()->next_promotion(history, false));
  EXPECT_EQ(halving()->next_promotion(history, true)->trial, 0u);
  add_complete(history, {1, 1});
  EXPECT_FALSE(halving()->next_promotion(history, true));
}

TEST(PromotionTest, WhoIsAtTheEndIsNotPaused) {
  History history = minimized_loss();
  const std::size_t paused = add_flat(history, TrialState::kPaused, 9, 8);
  const std::size_t runs = add_flat(history, TrialState::kRunning, 9, 8);
  EXPECT_TRUE(halving()->judge(history, runs).pause);
  add_flat(history, TrialState::kComplete, 1, 8);
  EXPECT_FALSE(halving()->judge(history, runs).pause);
  const auto next = halving()->next_promotion(history, false);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->trial, paused);
  EXPECT_EQ(next->why, "loss 9 at step 8 has rank 2 of 3 trials there: it is at its end");
}

TEST(PromotionTest, NaNIsPrunedAndNotPaused) {
  History history = paused_with({1});
  EXPECT_TRUE(halving()->judge(history, add_running(history, {NAN})).prune);
}

TEST(PromotionTest, HyperbandPromotesWithinABracket) {
  const auto pruner = pruner_of("hyperband:max_resource=9,check_fidelity=false,pause=true");
  const auto shares = bracket_shares(1, 9, 3);
  History history = minimized_loss();
  for (int i = 1; i <= 60; ++i) add_flat(history, TrialState::kPaused, i, 1);
  std::size_t of_first = 0, promoted = 0;
  for (std::size_t i = 0; i < 60; ++i) of_first += bracket_of(shares, history.seed, history.trials[i].number) == 0;
  while (const auto next = pruner->next_promotion(history, false)) {
    EXPECT_EQ(bracket_of(shares, history.seed, history.trials[next->trial].number), 0u);
    history.trials[next->trial].state = TrialState::kRunning;
    ASSERT_LE(++promoted, 60u);
  }
  EXPECT_EQ(promoted, of_first / 3);
}

TEST(PromotionTest, IsAskedForByName) {
  EXPECT_TRUE(pruner_of("asha:pause=true")->pauses());
  EXPECT_FALSE(pruner_of("asha")->pauses());
  EXPECT_TRUE(pruner_of("threshold:max=9+asha:pause=true")->pauses());
  EXPECT_TRUE(pruner_of("patient:2+hyperband:pause=true")->pauses());
  EXPECT_FALSE(pruner_of("median")->next_promotion(paused_with({1, 2}), true));
  const auto both = make_pruner("asha:pause=true+hyperband:pause=true");
  EXPECT_EQ(both.status().code(), Code::kInvalidArgument);
  EXPECT_NE(both.status().message().find("pause=true in one pruner at most"), std::string::npos);
}

TEST(PromotionTest, APrunerBesideItPrunesAndItsPauseIsKept) {
  const auto pruner =
      pruner_of("asha:min_resource=1,reduction_factor=2,check_fidelity=false,pause=true+threshold:max=5");
  History history = paused_with({1});
  EXPECT_TRUE(pruner->judge(history, add_flat(history, TrialState::kRunning, 4, 1)).pause);
  EXPECT_TRUE(pruner->judge(history, add_flat(history, TrialState::kRunning, 6, 1)).prune);
  EXPECT_EQ(pruner->judge(history, add_flat(history, TrialState::kRunning, 0.5, 1)).rung, 1);
  EXPECT_EQ(pruner->next_promotion(history, true)->trial, 0u);
}

}  // namespace
}  // namespace trainwarden::tune
