#include "tune/search/space_extension.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "tune/search/samplers/all.h"
#include "tune/search/samplers/parameter_groups.h"
#include "tune/search/samplers/sampler_trials.h"

namespace trainwarden::tune {
namespace {

constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();

TEST(SpaceExtensionTest, AddsOptionalParametersBehindTheOthers) {
  const auto space = Space::none().extended(number_between("x", 0, 1));
  ASSERT_TRUE(space.ok());
  const auto both = space->extended(choice_of("kind", {"a", "b"}));
  ASSERT_TRUE(both.ok());
  EXPECT_EQ((*both)[1].name, "kind");
  EXPECT_TRUE(both->contains({kAbsent, 1}));
  EXPECT_TRUE(both->contains({0.5, kAbsent}));
  EXPECT_FALSE(both->contains({2, kAbsent}));
  EXPECT_TRUE(both->values_of({kAbsent, 1}).contains("kind"));
  EXPECT_TRUE(std::isnan((*both->point_of({{"kind", "a"}}))[0]));
}

TEST(SpaceExtensionTest, RangesBecomeTheirUnion) {
  Hyperparameter known = number_between("x", 0, 1), asked = number_between("x", 0.5, 3);
  known.optional = true;
  EXPECT_EQ(united_parameter(known, asked)->max, 3);
  known.step = asked.step = 0.5;
  EXPECT_EQ(united_parameter(known, asked)->step, 0.5);
  asked.min = 0.25;
  EXPECT_EQ(united_parameter(known, asked)->step, 0);
}

TEST(SpaceExtensionTest, KindsScalesAndChoicesCannotChange) {
  Hyperparameter known = number_between("x", 1, 2);
  known.optional = true;
  Hyperparameter log = known;
  log.log = true;
  const auto whole = united_parameter(known, whole_between("x", 3, 4));
  EXPECT_EQ(whole.status().code(), Code::kFailedPrecondition);
  EXPECT_NE(whole.status().message().find("a number from 1 to 2"), std::string::npos);
  EXPECT_NE(whole.status().message().find("a whole number from 3 to 4"), std::string::npos);
  EXPECT_FALSE(united_parameter(known, log).ok());
  EXPECT_FALSE(united_parameter(choice_of("x", {"a"}), choice_of("x", {"a", "b"})).ok());
  known.optional = false;
  EXPECT_TRUE(united_parameter(known, known).ok());
  EXPECT_FALSE(united_parameter(known, number_between("x", 1, 1.5)).ok()) << "declared";
}

TEST(SpaceExtensionTest, DrawsByTheTrialAndTheNameAlone) {
  const Hyperparameter x = number_between("x", 0, 1), y = number_between("y", 0, 1);
  EXPECT_EQ(drawn_value(x, 7, 3), drawn_value(x, 7, 3));
  EXPECT_NE(drawn_value(x, 7, 3), drawn_value(x, 7, 4));
  EXPECT_NE(drawn_value(x, 7, 3), drawn_value(y, 7, 3));
  EXPECT_EQ(fitted_value(whole_between("n", 1, 4), TriedValue(std::int64_t{9})), std::nullopt);
  Hyperparameter steps = number_between("s", 0, 1);
  steps.step = 0.25;
  EXPECT_EQ(fitted_value(steps, TriedValue(0.3)), TriedValue(0.25));
}

// Two branches, each with a parameter of its own that the other one does not have.
History branches(int count) {
  History history{.space = Space::none(), .metrics = {{"loss"}}, .trials = {}, .seed = 1};
  history.space = *history.space.extended(choice_of("kind", {"a", "b"}));
  history.space = *history.space.extended(number_between("in_a", 0, 1));
  history.space = *history.space.extended(number_between("in_b", 0, 1));
  for (int i = 0; i < count; ++i) {
    const double value = (i % 7) / 7.0;
    Point point = i % 2 == 0 ? Point{0, value, kAbsent} : Point{1, kAbsent, value};
    history.trials.push_back(
        {.number = i, .point = point, .state = TrialState::kComplete, .values = {std::abs(value - 0.3) + (i % 2)}});
  }
  return history;
}

TEST(SpaceExtensionTest, WhatIsAskedForTogetherIsLearntTogether) {
  const auto groups = parameter_groups(branches(10), true);
  EXPECT_EQ(groups.size(), 3u);
  History same = branches(10);
  for (StudyTrial& trial : same.trials) trial.point = {0, 0.5, 0.5};
  EXPECT_EQ(parameter_groups(same, true).size(), 1u);
}

TEST(SpaceExtensionTest, SamplersLearnFromTrialsThatLackParameters) {
  for (const std::string_view name : sampler_names()) {
    if (name == "grid" || name == "cmaes") continue;  // neither has a grid or an evolution of these
    History history = branches(40);
    auto sampler = *make_sampler(name);
    search(*sampler, history, 5, [](const Point& point) { return std::vector<double>{std::abs(point[1] - 0.3)}; });
  }
}

TEST(SpaceExtensionTest, TpeFindsTheBranchAndItsValue) {
  History history = branches(60);
  auto sampler = *make_sampler("tpe");
  int in_a = 0;
  double sum = 0;
  for (int i = 0; i < 20; ++i) {
    const Point point = sampler->suggest(history, 60 + i)->point;
    in_a += point[0] == 0;
    sum += std::abs(point[1] - 0.3);
  }
  EXPECT_GT(in_a, 12);
  EXPECT_LT(sum / 20, 0.2);
}

}  // namespace
}  // namespace trainwarden::tune
