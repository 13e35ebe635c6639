#include "tune/search/samplers/grid_sampler.h"

#include <cmath>
#include <set>

#include "tune/search/samplers/lattice.h"
#include "tune/search/samplers/sampler_trials.h"

namespace trainwarden::tune {
namespace {

std::vector<double> nothing(const Point&) {
  return {0};
}

// All combinations, those of conditions too, each once; then it says that there are no more.
TEST(GridSamplerTest, TriesAllAndEnds) {
  Hyperparameter batch = whole_between("batch", 1, 8);
  batch.log = true;
  batch.when = ActiveWhen{"large", {true}};
  const Space space = *Space::make({choice_of("large", {true, false}), batch, choice_of("kind", {"a", "b"})});
  History history{.space = space, .metrics = {{.name = "loss"}}, .seed = 1};
  const auto sampler = make_grid_sampler();
  search(*sampler, history, 18, nothing);
  std::set<std::pair<double, double>> seen;
  for (const StudyTrial& trial : history.trials)
    seen.insert({std::isnan(trial.point[1]) ? 0 : trial.point[1], trial.point[2]});
  EXPECT_EQ(seen.size(), 18u);
  EXPECT_EQ(sampler->suggest(history, 18).status().code(), Code::kResourceExhausted);
}

TEST(GridSamplerTest, TheSeedShufflesTheOrder) {
  const Space space = *Space::make({whole_between("n", 1, 100)});
  std::vector<std::vector<double>> orders;
  for (const std::uint64_t seed : {1u, 2u}) {
    History history{.space = space, .metrics = {{.name = "loss"}}, .seed = seed};
    search(*make_grid_sampler(), history, 10, nothing);
    std::vector<double>& order = orders.emplace_back();
    for (const StudyTrial& trial : history.trials) order.push_back(trial.point[0]);
  }
  EXPECT_NE(orders[0], orders[1]);
  EXPECT_FALSE(std::is_sorted(orders[0].begin(), orders[0].end()));
}

TEST(GridSamplerTest, AContinuumNeedsPositions) {
  const Space space = *Space::make({number_between("x", 0, 1), whole_between("n", 1, 1000)});
  History history{.space = space, .metrics = {{.name = "loss"}}};
  const auto refused = make_grid_sampler()->suggest(history, 0);
  EXPECT_EQ(refused.status().code(), Code::kFailedPrecondition);
  EXPECT_NE(refused.status().message().find("positions"), std::string::npos);
  const auto sampler = make_grid_sampler({.positions = 4});
  search(*sampler, history, 16, nothing);
  std::set<double> values;
  for (const StudyTrial& trial : history.trials) values.insert(trial.point[0]);
  EXPECT_EQ(values, (std::set<double>{0.125, 0.375, 0.625, 0.875}));
  EXPECT_EQ(sampler->suggest(history, 16).status().code(), Code::kResourceExhausted);
}

TEST(LatticeTest, CountsAndRefuses) {
  EXPECT_EQ(Lattice(*Space::make({whole_between("a", 1, 3), whole_between("b", 1, 5)}), 0).size(), 15u);
  EXPECT_EQ(Lattice(*Space::make({number_between("a", 1, 3)}), 0).size(), 0u);
  EXPECT_EQ(Lattice(*Space::make({whole_between("a", 0, 1e9), whole_between("b", 0, 1e9)}), 0).size(), 0u);
}

}  // namespace
}  // namespace trainwarden::tune
