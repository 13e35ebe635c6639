#include "tune/search/gp/regret_bound.h"

#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "tune/search/gp/gp_sampler.h"
#include "tune/search/random.h"
#include "tune/search/sampler.h"
#include "tune/search/samplers/random_sampler.h"

namespace trainwarden::tune {
namespace {

Space square_of_ten() {
  return *Space::make({{.name = "x", .min = -5, .max = 5}, {.name = "y", .min = -5, .max = 5}});
}

History search_history(std::uint64_t seed) {
  return {.space = square_of_ten(), .metrics = {{.name = "loss"}}, .trials = {}, .seed = seed};
}

void complete(History& history, const Point& point, double value) {
  history.trials.push_back({.number = static_cast<std::int64_t>(history.trials.size()),
                            .point = point,
                            .state = TrialState::kComplete,
                            .values = {value},
                            .series = {{}}});
}

// Until the bound is below `limit`; how many trials that took, `most` at most.
std::size_t trials_until(History& history, TrialSampler& sampler, double limit, std::size_t most,
                         const std::function<double(const Point&)>& cost) {
  while (history.trials.size() < most) {
    const auto point = sampler.suggest(history, static_cast<std::int64_t>(history.trials.size()))->point;
    complete(history, point, cost(point));
    if (!is_regret_due(history)) continue;
    const auto bound = regret_bound(history);
    if (bound && *bound < limit) break;
  }
  return history.trials.size();
}

double bowl(const Point& point) {
  return (point[0] - 1) * (point[0] - 1) + 2 * (point[1] + 2) * (point[1] + 2);
}

TEST(RegretBoundTest, EndsOnABowlAndHolds) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    History history = search_history(seed);
    EXPECT_LT(trials_until(history, *make_gp(), 0.1, 60, bowl), 60u) << seed;
    EXPECT_LT(history.trials[*best_of(history)].values[0], 0.1) << seed;
  }
}

TEST(RegretBoundTest, DoesNotEndOnNoise) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    History history = search_history(seed);
    Random noise(seed, 99);
    const auto sampler = make_random_sampler();
    EXPECT_EQ(trials_until(history, *sampler, 0.1, 60, [&](const Point&) { return noise.normal(); }), 60u) << seed;
  }
}

TEST(RegretBoundTest, IsInTheUnitOfTheMetric) {
  History one = search_history(4), large = search_history(4);
  Random random(5);
  for (int i = 0; i < 20; ++i) {
    const Point point = *random_point(one.space, random);
    complete(one, point, bowl(point));
    complete(large, point, -1000 * bowl(point));
  }
  large.metrics[0].goal = Goal::kMaximize;
  const auto bound = regret_bound(one);
  ASSERT_TRUE(bound);
  EXPECT_GT(*bound, one.trials[*best_of(one)].values[0]);  // the least is 0: the bound holds
  EXPECT_NEAR(*regret_bound(large), 1000 * *bound, 50 * *bound);
}

TEST(RegretBoundTest, TrialsOfOtherStudiesAreKnownButNotFound) {
  History history = search_history(6);
  Random random(7);
  for (int i = 0; i < 25; ++i) {
    const Point point = i == 0 ? Point{1, -2} : *random_point(history.space, random);
    complete(history, point, bowl(point));
  }
  const auto with_best = regret_bound(history);
  history.trials[0].number = -1;
  const auto without = regret_bound(history);
  ASSERT_TRUE(with_best && without);
  EXPECT_GT(*without, *with_best + 0.1);
}

TEST(RegretBoundTest, SaysWhatItCannotKnow) {
  History flat = search_history(1);
  EXPECT_FALSE(is_regret_due(flat));
  for (int i = 0; i < 10; ++i) complete(flat, {0.1 * i, 0}, 3);
  EXPECT_TRUE(is_regret_due(flat));
  EXPECT_FALSE(regret_bound(flat));
  flat.trials.pop_back();
  EXPECT_FALSE(is_regret_due(flat));
  EXPECT_EQ(why_regret_is_unknown(flat.space, flat.metrics), "");
  EXPECT_EQ(why_regret_is_unknown(flat.space, {{.name = "one"}, {.name = "other"}}), "there are several objectives");
}

}  // namespace
}  // namespace trainwarden::tune
