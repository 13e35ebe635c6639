#include "tune/search/samplers/all.h"

#include <cmath>
#include <set>
#include <string>

#include "tune/search/samplers/sampler_trials.h"

namespace trainwarden::tune {
namespace {

class EverySamplerTest : public testing::TestWithParam<std::string_view> {
 protected:
  std::unique_ptr<TrialSampler> made() const { return *make_sampler(GetParam()); }
};

// All but the grid, which has no continuum.
class ContinuumSamplerTest : public EverySamplerTest {};
std::vector<std::string_view> names_but_grid() {
  std::vector<std::string_view> names = sampler_names();
  std::erase(names, "grid");
  return names;
}
INSTANTIATE_TEST_SUITE_P(All, ContinuumSamplerTest, testing::ValuesIn(names_but_grid()),
                         [](const auto& each) { return std::string(each.param); });

INSTANTIATE_TEST_SUITE_P(All, EverySamplerTest, testing::ValuesIn(sampler_names()),
                         [](const auto& each) { return std::string(each.param); });

TEST_P(ContinuumSamplerTest, SuggestsTheSameAgainFromTheHistoryAlone) {
  History history{.space = mixed_space(), .metrics = {{.name = "loss"}}, .seed = 7};
  const auto sampler = made();
  search(*sampler, history, 60, mixed_cost);
  for (const std::size_t number : {std::size_t{0}, std::size_t{5}, std::size_t{30}, std::size_t{59}}) {
    History before = history;
    before.trials.resize(number);
    const auto again = made()->suggest(before, static_cast<std::int64_t>(number));
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(history.space.values_of(again->point), history.space.values_of(history.trials[number].point));
    EXPECT_EQ(again->notes, history.trials[number].notes);
  }
}

TEST_P(ContinuumSamplerTest, TrialsSideBySideDiffer) {
  History history{.space = mixed_space(), .metrics = {{.name = "loss"}}, .seed = 7};
  const auto sampler = made();
  search(*sampler, history, 20, mixed_cost);
  std::set<std::string> points;
  for (std::int64_t number = 20; number < 40; ++number) {
    auto suggestion = sampler->suggest(history, number);
    ASSERT_TRUE(suggestion.ok());
    std::string text;
    for (const auto& [name, value] : history.space.values_of(suggestion->point)) text += name + text_of(value) + " ";
    points.insert(text);
    history.trials.push_back(
        {.number = number, .point = suggestion->point, .state = TrialState::kRunning, .notes = suggestion->notes});
  }
  EXPECT_GE(points.size(), 19u);
}

TEST_P(EverySamplerTest, MeetsConstraints) {
  const Space space = *Space::make({whole_between("train", 0, 20), whole_between("validation", 0, 20)},
                                   {{{{"train", 1}, {"validation", 1}}, 12}});
  History history{.space = space, .metrics = {{.name = "loss"}}, .seed = 3};
  search(*made(), history, 60, [](const Point& point) { return std::vector<double>{-point[0] - point[1]}; });
}

TEST_P(EverySamplerTest, LivesWithFailedPrunedAndUnknownTrials) {
  const Space space = *Space::make({whole_between("a", 0, 30), whole_between("b", 0, 30)});
  History history{.space = space,
                  .metrics = {{.name = "loss"}, {.name = "time", .strategy = Strategy::kConstrain, .threshold = 5}},
                  .seed = 3};
  const auto sampler = made();
  for (int i = 0; i < 80; ++i) {
    search(*sampler, history, 1, [](const Point& point) { return std::vector<double>{point[0], point[1]}; });
    StudyTrial& trial = history.trials.back();
    if (i % 5 == 1) trial.state = TrialState::kFailed, trial.values.clear();
    if (i % 5 == 2) trial.state = TrialState::kPruned, trial.values.clear(), trial.series = {{{3, 0.5}}, {}};
    if (i % 5 == 3) trial.values = {NAN, INFINITY};
  }
}

// Trial 0 is what the user knows already.
TEST_P(ContinuumSamplerTest, BeginsWithTheFirstValues) {
  Hyperparameter first = number_between("x", 0, 1);
  first.first = 0.123;
  History history{.space = *Space::make({first, number_between("y", 0, 1)}), .metrics = {{.name = "loss"}}};
  const auto suggestion = made()->suggest(history, 0);
  ASSERT_TRUE(suggestion.ok());
  EXPECT_EQ(suggestion->point, (Point{0.123, 0.5}));
}

TEST(AllSamplersTest, NamesThoseThereAre) {
  const auto made = make_sampler("magic");
  EXPECT_EQ(made.status().code(), Code::kNotFound);
  EXPECT_NE(made.status().message().find("tpe"), std::string::npos);
}

}  // namespace
}  // namespace trainwarden::tune
