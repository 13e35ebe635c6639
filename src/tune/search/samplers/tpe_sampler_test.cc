#include "tune/search/samplers/tpe_sampler.h"

#include <cmath>
#include <set>

#include "tune/search/samplers/random_sampler.h"
#include "tune/search/samplers/sampler_trials.h"

namespace trainwarden::tune {
namespace {

double median_of_best(TrialSampler& sampler, int trials) {
  std::vector<double> best;
  for (std::uint64_t seed = 0; seed < 9; ++seed) {
    History history{.space = mixed_space(), .metrics = {{.name = "loss"}}, .seed = seed};
    search(sampler, history, trials, mixed_cost);
    best.push_back(best_value(history, 0, history.trials.size()));
  }
  std::sort(best.begin(), best.end());
  return best[4];
}

TEST(TpeSamplerTest, FindsWhatRandomDoesNotInAMixedSpace) {
  const double random = median_of_best(*make_random_sampler(), 80);
  EXPECT_LT(median_of_best(*make_tpe_sampler(), 80), 0.4 * random);
  EXPECT_LT(median_of_best(*make_tpe_sampler({.multivariate = false}), 80), 0.7 * random);
}

TEST(TpeSamplerTest, IsRandomBeforeItHasSeenEnough) {
  History history{.space = mixed_space(), .metrics = {{.name = "loss"}}, .seed = 5};
  History same = history;
  search(*make_tpe_sampler(), history, 10, mixed_cost);
  search(*make_random_sampler(), same, 10, mixed_cost);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(history.trials[i].values, same.trials[i].values);
}

// Running trials count as bad ones: beside them nothing is suggested.
TEST(TpeSamplerTest, KeepsAwayFromWhatRuns) {
  const Space space = *Space::make({number_between("x", 0, 1)});
  int near = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    History history{.space = space, .metrics = {{.name = "loss"}}, .seed = seed};
    search(*make_tpe_sampler(), history, 30, [](const Point& x) { return std::vector<double>{std::abs(x[0] - 0.5)}; });
    const double alone = make_tpe_sampler()->suggest(history, 40)->point[0];
    for (std::int64_t number = 30; number < 40; ++number) {
      history.trials.push_back({.number = number, .point = {alone}, .state = TrialState::kRunning});
    }
    near += std::abs(make_tpe_sampler()->suggest(history, 40)->point[0] - alone) < 0.02 ? 1 : 0;
  }
  EXPECT_LE(near, 2);
}

TEST(TpeSamplerTest, TriesEachPointOfACountableSpaceOnce) {
  Hyperparameter depth = whole_between("depth", 1, 5);
  depth.when = ActiveWhen{"tree", {true}};
  const Space space = *Space::make({choice_of("tree", {true, false}), depth, choice_of("kind", {"a", "b", "c"})});
  History history{.space = space, .metrics = {{.name = "loss"}}, .seed = 2};
  const auto sampler = make_tpe_sampler();
  search(*sampler, history, 18, [](const Point& point) { return std::vector<double>{point[2]}; });
  std::set<std::string> tried;
  for (const StudyTrial& trial : history.trials) {
    std::string text;
    for (const auto& [name, value] : space.values_of(trial.point)) text += name + text_of(value) + " ";
    tried.insert(text);
  }
  EXPECT_EQ(tried.size(), 18u);
  EXPECT_EQ(sampler->suggest(history, 18).status().code(), Code::kResourceExhausted);
}

TEST(TpeSamplerTest, LearnsWhichPointsAreFeasible) {
  const Space space = *Space::make({number_between("x", 0, 1), number_between("y", 0, 1)});
  History history{.space = space,
                  .metrics = {{.name = "loss"}, {.name = "time", .strategy = Strategy::kConstrain, .threshold = 0.3}},
                  .seed = 2};
  search(*make_tpe_sampler(), history, 80, [](const Point& x) { return std::vector<double>{1 - x[0] - x[1], x[0]}; });
  const auto best = best_of(history);
  ASSERT_TRUE(best);
  EXPECT_LT(history.trials[*best].values[0], -0.2);
  int feasible = 0;
  for (std::size_t i = 50; i < 80; ++i) feasible += history.trials[i].values[1] <= 0.3;
  EXPECT_GE(feasible, 12);
}

TEST(TpeSamplerTest, WhatAVerdictEndedCountsAsFailed) {
  History history{.space = *Space::make({number_between("x", 0, 1)}), .metrics = {{.name = "loss"}}, .seed = 2};
  for (int i = 0; i < 30; ++i) {
    const bool is_ruinous = i >= 12;
    history.trials.push_back({.number = i,
                              .point = {is_ruinous ? 0.2 + 0.01 * (i - 12) : 0.05 * i},
                              .state = is_ruinous ? TrialState::kFailed : TrialState::kComplete,
                              .values = {std::abs(0.05 * i - 0.3)}});
  }
  const auto as_failed = make_tpe_sampler()->suggest(history, 30);
  for (std::size_t i = 12; i < 30; ++i) {
    history.trials[i].state = TrialState::kPruned;
    history.trials[i].series = {{{1000, 0}}};
  }
  EXPECT_NE(make_tpe_sampler()->suggest(history, 30)->point, as_failed->point);
  for (std::size_t i = 12; i < 30; ++i) history.trials[i].ended_by_verdict = true;
  EXPECT_EQ(make_tpe_sampler()->suggest(history, 30)->point, as_failed->point);
}

// The hypervolume of the front below (1, 1), for two objectives.
double hypervolume(const History& history) {
  std::vector<std::pair<double, double>> front;
  for (const std::size_t i : pareto_front(history))
    front.emplace_back(history.trials[i].values[0], history.trials[i].values[1]);
  std::sort(front.begin(), front.end());
  double sum = 0, last = 1;
  for (const auto& [one, other] : front) {
    if (one >= 1 || other >= last) continue;
    sum += (1 - one) * (last - other);
    last = other;
  }
  return sum;
}

TEST(TpeSamplerTest, FindsAFrontOfTwoObjectives) {
  const Space space = *Space::make({number_between("x", 0, 1), number_between("y", 0, 1), number_between("z", 0, 1)});
  const auto objectives = [](const Point& x) {
    const double away = (x[1] - 0.7) * (x[1] - 0.7) + (x[2] - 0.2) * (x[2] - 0.2);
    return std::vector<double>{x[0] + away, (1 - x[0]) * (1 - x[0]) + away};
  };
  double ours = 0, random = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    for (const bool is_ours : {true, false}) {
      History history{.space = space, .metrics = {{.name = "one"}, {.name = "other"}}, .seed = seed};
      search(*(is_ours ? make_tpe_sampler() : make_random_sampler()), history, 100, objectives);
      (is_ours ? ours : random) += hypervolume(history) / 5;
    }
  }
  EXPECT_GT(ours, random + 0.02);
}

}  // namespace
}  // namespace trainwarden::tune
