#include "tune/search/pruners/dominated_pruner.h"

#include <cmath>

#include "tune/search/pruners/curves_testing.h"

namespace trainwarden::tune {
namespace {

// loss and size as small as can be, f1 at least 0.9. Six complete trials gained 0.1 of f1 from step 2 to 4.
class DominatedPrunerTest : public testing::Test {
 protected:
  DominatedPrunerTest() {
    for (int i = 0; i < 6; ++i) add(TrialState::kComplete, {9, 5, 3, 2}, {4, 4, 4, 4}, {0.5, 0.8, 0.85, 0.9});
  }
  std::size_t add(TrialState state, const std::vector<double>& loss, const std::vector<double>& size,
                  const std::vector<double>& f1) {
    return add_trial(history_, state, {values_from_one(loss), values_from_one(size), values_from_one(f1)});
  }
  PruneAnswer judged(const std::vector<double>& loss, const std::vector<double>& size, const std::vector<double>& f1,
                     const DominatedOptions& options = {}) {
    const std::size_t trial = add(TrialState::kRunning, loss, size, f1);
    PruneAnswer answer = make_dominated_pruner(options)->judge(history_, trial);
    history_.trials.pop_back();
    return answer;
  }

  History history_ =
      history_of({{.name = "loss"},
                  {.name = "size"},
                  {.name = "f1", .goal = Goal::kMaximize, .strategy = Strategy::kConstrain, .threshold = 0.9}});
};

TEST_F(DominatedPrunerTest, NeedsBoth) {
  const PruneAnswer answer = judged({9, 6}, {4, 4}, {0.5, 0.7});
  EXPECT_TRUE(answer.prune);
  EXPECT_EQ(
      answer.why,
      "f1 0.7 at step 2 can become 0.8 at best, by what 6 trials gained from there on, and misses 0.9; and trial 0 "
      "was better at step 2 (loss 5 against 6, size 4 against 4)");
  EXPECT_FALSE(judged({9, 6}, {4, 3}, {0.5, 0.7}).prune);   // nothing dominates it
  EXPECT_FALSE(judged({9, 6}, {4, 4}, {0.5, 0.81}).prune);  // it can become good enough
  EXPECT_FALSE(judged({9, 5}, {4, 4}, {0.5, 0.7}).prune);   // as good as another is not worse
  EXPECT_FALSE(judged({9}, {4}, {0.41}).prune);             // 0.4 to gain from step 1 on, and all are alike there
}

TEST_F(DominatedPrunerTest, HopesForMoreWhereGainsDiffer) {
  for (StudyTrial& trial : history_.trials) trial.series[2][3].value = 0.8;         // gains 0
  for (std::size_t i = 0; i < 3; ++i) history_.trials[i].series[2][3].value = 0.9;  // and 0.1
  // Mean 0.05, deviation sqrt(0.003 * 7 / 6) = 0.0592: 0.05 + 2 * 0.0592 = 0.1683.
  EXPECT_FALSE(judged({9, 6}, {4, 4}, {0.5, 0.732}).prune);
  EXPECT_TRUE(judged({9, 6}, {4, 4}, {0.5, 0.731}).prune);
  EXPECT_TRUE(judged({9, 6}, {4, 4}, {0.5, 0.799}, {.deviations = 0}).prune);  // the largest gain
  EXPECT_FALSE(judged({9, 6}, {4, 4}, {0.5, 0.801}, {.deviations = 0}).prune);
}

TEST_F(DominatedPrunerTest, WhatGrowsCanOnlyBecomeLarger) {
  history_.metrics[2] = {.name = "time", .strategy = Strategy::kConstrain, .threshold = 100};
  for (StudyTrial& trial : history_.trials) trial.series[2] = values_from_one({20, 40, 60, 80});
  EXPECT_TRUE(judged({9, 6}, {4, 4}, {35, 61}).prune);  // 40 more to come
  EXPECT_FALSE(judged({9, 6}, {4, 4}, {35, 60}).prune);
}

TEST_F(DominatedPrunerTest, AnObjectivesThresholdCountsToo) {
  history_.metrics[2].strategy = Strategy::kStore;
  EXPECT_FALSE(judged({9, 6}, {4, 4}, {0.5, 0.1}).prune);
  history_.metrics[0].threshold = 2.5;  // 3 were gained from step 2 on
  EXPECT_TRUE(judged({9, 6}, {4, 4}, {0.5, 0.1}).prune);
  history_.metrics[0].threshold = 3;
  EXPECT_FALSE(judged({9, 6}, {4, 4}, {0.5, 0.1}).prune);
}

TEST_F(DominatedPrunerTest, ComparesAtTheLastRungOfAllObjectives) {
  EXPECT_TRUE(judged({9, 6, 1}, {4, 4}, {0.5, 0.7}).prune);     // at step 2
  EXPECT_TRUE(judged({9, 6, 1}, {4, 4, 1}, {0.5, 0.7}).prune);  // also: step 3 is no rung
  EXPECT_FALSE(judged({9, 6, 1, 1}, {4, 4, 1, 1}, {0.5, 0.7}).prune);
  EXPECT_FALSE(judged({9, 6}, {4, 4}, {0.5, 0.7}, {.min_resource = 3}).prune);
}

TEST_F(DominatedPrunerTest, WhatAVerdictEndedBeatsNothing) {
  const std::size_t ended = add(TrialState::kPruned, {1, 1}, {1, 1}, {0.9, 0.9});
  EXPECT_TRUE(judged({4, 4}, {3, 3}, {0.5, 0.7}).prune);
  history_.trials[ended].ended_by_verdict = true;
  EXPECT_FALSE(judged({4, 4}, {3, 3}, {0.5, 0.7}).prune);
}

TEST_F(DominatedPrunerTest, NeedsToKnowEnough) {
  EXPECT_FALSE(judged({9, 6}, {4, 4}, {}).prune);
  EXPECT_FALSE(judged({9, 6}, {}, {0.5, 0.7}).prune);
  EXPECT_FALSE(judged({9, NAN}, {4, 4}, {0.5, 0.7}).prune);
  EXPECT_FALSE(judged({9, 6}, {4, 4}, {0.5, NAN}).prune);
  EXPECT_FALSE(judged({9, 6}, {4, 4}, {0.5, 0.7}, {.min_trials = 7}).prune);
}

}  // namespace
}  // namespace trainwarden::tune
