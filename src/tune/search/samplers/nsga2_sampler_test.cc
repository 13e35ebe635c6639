#include "tune/search/samplers/nsga2_sampler.h"

#include <cmath>

#include "tune/search/samplers/sampler_trials.h"

namespace trainwarden::tune {
namespace {

TEST(Nsga2SamplerTest, GenerationsGetBetter) {
  History history{.space = mixed_space(), .metrics = {{.name = "loss"}}, .seed = 4};
  search(*make_nsga2_sampler({.population = 20}), history, 200, mixed_cost);
  double first = 0, last = 0;
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(history.trials[i].notes.at("nsga2"), 0);
    EXPECT_EQ(history.trials[180 + i].notes.at("nsga2"), 9);
    first += history.trials[i].values[0] / 20;
    last += history.trials[180 + i].values[0] / 20;
  }
  EXPECT_LT(last, 0.5 * first);
}

// Schaffer's first problem: the front is x from 0 to 2.
TEST(Nsga2SamplerTest, SpreadsOverTheFront) {
  const Space space = *Space::make({number_between("x", -50, 50)});
  History history{.space = space, .metrics = {{.name = "one"}, {.name = "other"}}, .seed = 4};
  search(*make_nsga2_sampler({.population = 20}), history, 300, [](const Point& x) {
    return std::vector<double>{x[0] * x[0], (x[0] - 2) * (x[0] - 2)};
  });
  const std::vector<std::size_t> front = pareto_front(history);
  EXPECT_GE(front.size(), 30u);
  double least = 50, most = -50;
  for (const std::size_t i : front) {
    least = std::min(least, history.trials[i].point[0]);
    most = std::max(most, history.trials[i].point[0]);
  }
  EXPECT_NEAR(least, 0, 0.1);
  EXPECT_NEAR(most, 2, 0.1);
}

}  // namespace
}  // namespace trainwarden::tune
