// What mattered, of functions of which it is known.
#include "tune/search/importance/importance.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "tune/search/importance/importance_testing.h"

namespace trainwarden::tune {
namespace {

ImportanceShare share_in(const std::vector<ParameterImportance>& list, std::size_t parameter) {
  for (const ParameterImportance& each : list) {
    if (each.parameter == parameter) return each.share;
  }
  ADD_FAILURE() << "no parameter " << parameter;
  return {};
}

double pair_in(const ForestImportance& forest, std::size_t first, std::size_t second) {
  for (const PairImportance& pair : forest.pairs) {
    if (pair.first == first && pair.second == second) return pair.share.importance;
  }
  return 0;
}

void expect_shares(const std::vector<ParameterImportance>& list) {
  double sum = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const ImportanceShare& share = list[i].share;
    EXPECT_LE(0, share.low);
    EXPECT_LE(share.low, share.importance);
    EXPECT_LE(share.importance, share.high);
    EXPECT_LE(share.high, 1);
    if (i > 0) {
      EXPECT_LE(share.importance, list[i - 1].share.importance);
    }
    sum += share.importance;
  }
  EXPECT_LE(sum, 1 + 1e-9);
}

// The variance of a sum is 9 / 12 and 1 / 12.
TEST(ImportanceTest, AWeightedSumHasTheSquaresOfItsWeights) {
  const History history = tried_uniformly(unit_cube(3), 400, [](const Point& x, Random&) { return 3 * x[0] + x[1]; });
  const StudyImportance found = importance_of(history, 0);
  ASSERT_TRUE(found.forest && found.forest->is_trusted) << found.note;
  EXPECT_GT(found.forest->r2, 0.9);
  EXPECT_EQ(found.trials, 400U);
  EXPECT_EQ(found.note, "");
  expect_shares(found.forest->single);
  expect_shares(found.ped_anova);
  const ImportanceShare first = share_in(found.forest->single, 0), second = share_in(found.forest->single, 1);
  EXPECT_NEAR(first.importance, 0.9, 0.05);
  EXPECT_LE(first.low, 0.91);
  EXPECT_GE(first.high, 0.89);
  EXPECT_NEAR(second.importance, 0.1, 0.05);
  EXPECT_GT(second.low, 0);
  EXPECT_EQ(share_in(found.forest->single, 2).low, 0);
  EXPECT_LT(share_in(found.forest->single, 2).importance, 0.01);
  EXPECT_TRUE(found.beats_chance);
  EXPECT_EQ(found.ped_anova[0].parameter, 0U);
  EXPECT_EQ(share_in(found.ped_anova, 2).low, 0);
}

// Of x0 * x1 in the unit square each has 3 / 7, both together 1 / 7.
TEST(ImportanceTest, AProductHasAPartOfBothTogether) {
  const History history = tried_uniformly(unit_cube(3), 1000, [](const Point& x, Random&) { return x[0] * x[1]; });
  const StudyImportance found = importance_of(history, 0, ImportanceParts::kAll);
  ASSERT_TRUE(found.forest && found.forest->is_trusted) << found.note;
  EXPECT_NEAR(share_in(found.forest->single, 0).importance, 3.0 / 7, 0.05);
  EXPECT_NEAR(share_in(found.forest->single, 1).importance, 3.0 / 7, 0.05);
  EXPECT_NEAR(pair_in(*found.forest, 0, 1), 1.0 / 7, 0.05);
  EXPECT_LT(pair_in(*found.forest, 0, 2), 0.02);
}

// Of (x0 - 1/2)(x1 - 1/2) nothing is either's alone.
TEST(ImportanceTest, WhatIsOfTwoTogetherAloneIsFound) {
  const History history =
      tried_uniformly(unit_cube(2), 1000, [](const Point& x, Random&) { return (x[0] - 0.5) * (x[1] - 0.5); });
  const StudyImportance found = importance_of(history, 0);
  ASSERT_TRUE(found.forest && found.forest->is_trusted) << found.note;
  EXPECT_GT(pair_in(*found.forest, 0, 1), 0.85);
  EXPECT_EQ(share_in(found.forest->single, 0).low, 0);
  EXPECT_EQ(share_in(found.forest->single, 1).low, 0);
}

TEST(ImportanceTest, NoiseSaysNothingAndSaysSo) {
  int standing_out = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const History history = tried_uniformly(
        unit_cube(4), 60, [](const Point&, Random& random) { return random.normal(); }, seed);
    const StudyImportance found = importance_of(history, 0);
    ASSERT_TRUE(found.forest);
    EXPECT_LT(found.forest->r2, 0.15) << seed;
    EXPECT_FALSE(found.forest->is_trusted);
    EXPECT_TRUE(found.forest->single.empty() && found.forest->pairs.empty());
    EXPECT_NE(found.note.find("fANOVA says nothing: its forest explains"), std::string::npos) << found.note;
    standing_out += found.beats_chance ? 1 : 0;
  }
  EXPECT_LE(standing_out, 2) << "one in twenty does by chance";
}

TEST(ImportanceTest, AParameterOfNoEffectMayBeNothingInMostStudies) {
  int ped = 0, forest = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const History history = tried_uniformly(
        unit_cube(3), 60, [](const Point& x, Random& random) { return 3 * x[0] + 2 * x[1] + 0.3 * random.normal(); },
        seed);
    const StudyImportance found = importance_of(history, 0);
    ped += share_in(found.ped_anova, 2).low == 0 ? 1 : 0;
    ASSERT_TRUE(found.forest && found.forest->is_trusted) << found.note;
    forest += share_in(found.forest->single, 2).low == 0 ? 1 : 0;
  }
  EXPECT_GE(ped, 17);
  EXPECT_GE(forest, 17);
}

// Where it is active, momentum has all of it; it is in one of two optimizers.
TEST(ImportanceTest, AParameterCountsWhereItIsActive) {
  Hyperparameter momentum = number_between("momentum", 0, 1);
  momentum.when = ActiveWhen{"optimizer", {std::string("sgd")}};
  const Space space = *Space::make(
      {choice_of("optimizer", {std::string("adam"), std::string("sgd")}), momentum, number_between("x", 0, 1)});
  const auto cost = [](const Point& point, Random&) { return std::isnan(point[1]) ? 0.5 : point[1]; };
  const StudyImportance found = importance_of(tried_uniformly(space, 800, cost), 0);
  ASSERT_TRUE(found.forest && found.forest->is_trusted) << found.note;
  // The mean over optimizers is momentum / 2 + 1/4: half of what momentum makes of sgd alone, and as much with it.
  EXPECT_NEAR(share_in(found.forest->single, 1).importance, 0.5, 0.06);
  EXPECT_NEAR(pair_in(*found.forest, 0, 1), 0.5, 0.08);
  // The means of two optimizers in some hundred trials each differ a little by chance.
  EXPECT_LT(share_in(found.forest->single, 0).importance, 0.1);
  EXPECT_EQ(share_in(found.forest->single, 2).low, 0);
  EXPECT_EQ(found.ped_anova[0].parameter, 1U);
}

TEST(ImportanceTest, ChoicesWholeNumbersAndLogarithmsAreUnderstood) {
  Hyperparameter rate = number_between("rate", 1e-6, 1);
  rate.log = true;
  std::vector<TriedValue> many;
  for (std::int64_t i = 0; i < 200; ++i) many.emplace_back(i);
  const Space space = *Space::make({rate, whole_between("layers", 1, 4), choice_of("seed", many),
                                    choice_of("activation", {std::string("a"), std::string("b"), std::string("c")})});
  // Variances 3 (of six decades), 5/4, 0, and of -1, 2, -1 two.
  const auto cost = [](const Point& point, Random&) {
    return std::log10(point[0]) + point[1] + (point[3] == 1 ? 2 : -1);
  };
  const StudyImportance found = importance_of(tried_uniformly(space, 1500, cost), 0);
  ASSERT_TRUE(found.forest && found.forest->is_trusted) << found.note;
  EXPECT_NEAR(share_in(found.forest->single, 0).importance, 3 / 6.25, 0.06);
  EXPECT_NEAR(share_in(found.forest->single, 1).importance, 1.25 / 6.25, 0.05);
  EXPECT_NEAR(share_in(found.forest->single, 3).importance, 2 / 6.25, 0.05);
  EXPECT_LT(share_in(found.forest->single, 2).importance, 0.01);
}

TEST(ImportanceTest, WhereASamplerLookedMoreOftenIsNoImportance) {
  History history = tried_uniformly(unit_cube(2), 300, [](const Point& x, Random&) { return std::abs(x[0] - 0.5); });
  for (std::size_t i = 100; i < 300; ++i) history.trials[i].point[1] = 0.2 + 0.02 * history.trials[i].point[1];
  const StudyImportance found = importance_of(history, 0);
  EXPECT_GT(share_in(found.ped_anova, 0).importance, 0.95);
  EXPECT_EQ(share_in(found.ped_anova, 1).low, 0);
}

TEST(ImportanceTest, WhatIsGoodFollowsFromTheGoal) {
  // Only low values of x0 are bad, which matters to the whole and not to the best; of the best x1 decides.
  const auto score = [](const Point& x, Random&) { return x[0] < 0.3 ? -10 : x[1]; };
  History history = tried_uniformly(unit_cube(2), 500, score);
  history.metrics[0].goal = Goal::kMaximize;
  const StudyImportance found = importance_of(history, 0);
  EXPECT_EQ(found.ped_anova[0].parameter, 1U);
  ASSERT_TRUE(found.forest && found.forest->is_trusted) << found.note;
  EXPECT_EQ(found.forest->single[0].parameter, 0U);
  history.metrics[0].goal = Goal::kMinimize;
  EXPECT_EQ(importance_of(history, 0).ped_anova[0].parameter, 0U);
}

TEST(ImportanceTest, TrialsWithoutAValueAreLeftOutAndCounted) {
  History history = tried_uniformly(unit_cube(2), 50, [](const Point& x, Random&) { return x[0]; });
  const StudyImportance before = importance_of(history, 0);
  StudyTrial trial{.number = 50, .point = {0.1, 0.9}, .values = {std::numeric_limits<double>::quiet_NaN()}};
  for (const TrialState state :
       {TrialState::kFailed, TrialState::kPruned, TrialState::kComplete, TrialState::kRunning, TrialState::kWaiting}) {
    trial.state = state;
    history.trials.push_back(trial);
  }
  trial.state = TrialState::kComplete;
  trial.values = {std::numeric_limits<double>::infinity()};
  history.trials.push_back(trial);
  const StudyImportance found = importance_of(history, 0);
  EXPECT_EQ(found.trials, 50U);
  EXPECT_EQ(found.left_out, 4U) << "what runs or waits has not ended";
  EXPECT_EQ(share_in(found.ped_anova, 0).low, share_in(before.ped_anova, 0).low);
  EXPECT_EQ(found.forest->r2, before.forest->r2);
}

TEST(ImportanceTest, WhereNothingCanBeSaidASentenceSaysWhy) {
  History history =
      tried_uniformly(unit_cube(2), kMinImportanceTrials - 1, [](const Point& x, Random&) { return x[0]; });
  const StudyImportance few = importance_of(history, 0);
  EXPECT_EQ(few.note, "What mattered is not known yet: 20 complete trials with loss are needed, there are 19.");
  EXPECT_TRUE(few.ped_anova.empty() && !few.forest);
  EXPECT_EQ(importance_of(History{.space = unit_cube(1), .metrics = history.metrics, .trials = {}}, 0).trials, 0U);
  history = tried_uniformly(unit_cube(2), 30, [](const Point&, Random&) { return 0.5; });
  EXPECT_EQ(importance_of(history, 0).note, "Nothing mattered: loss is the same in all 30 trials.");
  history = tried_uniformly(*Space::make({number_between("x", 1, 1)}), 30,
                            [](const Point&, Random& random) { return random.uniform(); });
  EXPECT_EQ(importance_of(history, 0).note, "No parameter has been tried with more than one value.");
}

TEST(ImportanceTest, OneLossThatExplodedIsNotAllThatMattered) {
  History history = tried_uniformly(unit_cube(2), 200, [](const Point& x, Random&) { return x[0]; });
  history.trials[17].values = {1e30};
  const StudyImportance found = importance_of(history, 0);
  ASSERT_TRUE(found.forest && found.forest->is_trusted) << found.note;
  EXPECT_GT(share_in(found.forest->single, 0).importance, 0.8);
  EXPECT_NE(found.note.find("1 values far from all others"), std::string::npos) << found.note;
}

TEST(ImportanceTest, TheSameStudyHasTheSameAnswerAndAnotherSeedANearOne) {
  const auto cost = [](const Point& x, Random& random) { return x[0] + 0.5 * x[1] + 0.1 * random.normal(); };
  History history = tried_uniformly(unit_cube(2), 100, cost);
  const ImportanceShare one = share_in(importance_of(history, 0).forest->single, 0);
  const ImportanceShare again = share_in(importance_of(history, 0).forest->single, 0);
  EXPECT_EQ(one.importance, again.importance);
  EXPECT_EQ(one.low, again.low);
  history.seed = 8;
  const ImportanceShare other = share_in(importance_of(history, 0).forest->single, 0);
  EXPECT_NE(one.importance, other.importance);
  EXPECT_NEAR(one.importance, other.importance, 0.1);
}

TEST(ImportanceTest, OfVeryManyTrialsSomeAreDrawn) {
  const History history =
      tried_uniformly(unit_cube(1), kMaxSampledTrials + 100, [](const Point& x, Random&) { return x[0]; });
  const StudyImportance found = importance_of(history, 0, ImportanceParts::kPedAnova);
  EXPECT_EQ(found.trials, kMaxSampledTrials);
  EXPECT_EQ(found.note, "4000 trials were drawn at random from 4100.");
  EXPECT_FALSE(found.forest);
}

}  // namespace
}  // namespace trainwarden::tune
