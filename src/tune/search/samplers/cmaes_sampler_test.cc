#include "tune/search/samplers/cmaes_sampler.h"

#include <cmath>

#include "tune/search/samplers/sampler_trials.h"

namespace trainwarden::tune {
namespace {

// An ellipsoid whose axes are those of no parameter.
std::vector<double> turned_ellipsoid(const Point& x) {
  const double one = x[0] - 0.3 + x[1] - 0.6, other = x[0] - 0.3 - (x[1] - 0.6), third = x[2] - 0.8;
  return {one * one + 400 * other * other + 10 * third * third};
}

TEST(CmaesSamplerTest, ConvergesOnATurnedEllipsoid) {
  const Space space = *Space::make({number_between("x", 0, 1), number_between("y", 0, 1), number_between("z", 0, 1)});
  History history{.space = space, .metrics = {{.name = "loss"}}, .seed = 4};
  search(*make_cmaes_sampler(), history, 500, turned_ellipsoid);
  EXPECT_LT(best_value(history, 0, 500), 1e-6);
  EXPECT_GT(history.trials.back().notes.at("cmaes"), 40);
}

// Beyond the border is nothing better: the optimum is at a corner.
TEST(CmaesSamplerTest, StaysInsideAndReachesCorners) {
  const Space space = *Space::make({number_between("x", 0, 1), number_between("y", 0, 1)});
  History history{.space = space, .metrics = {{.name = "loss"}}, .seed = 4};
  search(*make_cmaes_sampler(), history, 200, [](const Point& x) { return std::vector<double>{x[0] - x[1]}; });
  EXPECT_LT(best_value(history, 0, 200), -0.99);
}

// Without the least deviation a whole number stops wherever the rest has converged.
TEST(CmaesSamplerTest, WholeNumbersGoOnMoving) {
  const Space space = *Space::make({whole_between("n", 0, 20), number_between("x", 0, 1)});
  int found = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    History history{.space = space, .metrics = {{.name = "loss"}}, .seed = seed};
    search(*make_cmaes_sampler(), history, 200,
           [](const Point& p) { return std::vector<double>{1e4 * (p[1] - 0.2) * (p[1] - 0.2) + std::abs(p[0] - 17)}; });
    for (const StudyTrial& trial : history.trials) found += trial.point[0] == 17 && trial.values[0] < 0.1 ? 1 : 0;
  }
  EXPECT_GE(found, 25);
}

TEST(CmaesSamplerTest, DrawsFurtherOnesWhileAGenerationRuns) {
  const Space space = *Space::make({number_between("x", 0, 1), number_between("y", 0, 1)});
  History history{.space = space, .metrics = {{.name = "loss"}}, .seed = 4};
  const auto sampler = make_cmaes_sampler();
  search(*sampler, history, 5, [](const Point& x) { return std::vector<double>{x[0]}; });
  for (std::int64_t number = 5; number < 12; ++number) {
    const auto suggestion = sampler->suggest(history, number);
    ASSERT_TRUE(suggestion.ok());
    EXPECT_EQ(suggestion->notes.at("cmaes"), 0) << number;
    history.trials.push_back(
        {.number = number, .point = suggestion->point, .state = TrialState::kRunning, .notes = suggestion->notes});
  }
  history.trials[8].state = TrialState::kComplete;
  history.trials[8].values = {0};
  EXPECT_EQ(sampler->suggest(history, 12)->notes.at("cmaes"), 1);
}

TEST(CmaesSamplerTest, BeginsAnewWhenItHasConverged) {
  const Space space = *Space::make({number_between("x", 0, 1), number_between("y", 0, 1)});
  History history{.space = space, .metrics = {{.name = "loss"}}, .seed = 4};
  search(*make_cmaes_sampler(), history, 600,
         [](const Point& x) { return std::vector<double>{(x[0] - 0.3) * (x[0] - 0.3) + (x[1] - 0.3) * (x[1] - 0.3)}; });
  int far_away = 0;
  for (std::size_t i = 300; i < 600; ++i) far_away += history.trials[i].values[0] > 0.01 ? 1 : 0;
  EXPECT_GE(far_away, 10);
}

TEST(CmaesSamplerTest, SaysWhatItCannotDo) {
  History history{.space = *Space::make({choice_of("kind", {"a", "b"})}), .metrics = {{.name = "loss"}}};
  EXPECT_EQ(make_cmaes_sampler()->suggest(history, 0).status().code(), Code::kFailedPrecondition);
  history.space = *Space::make({number_between("x", 0, 1)});
  history.metrics.push_back({.name = "time"});
  EXPECT_EQ(make_cmaes_sampler()->suggest(history, 0).status().code(), Code::kFailedPrecondition);
}

}  // namespace
}  // namespace trainwarden::tune
