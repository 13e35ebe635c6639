#include "tune/search/space.h"

#include <cmath>
#include <limits>
#include <set>

#include <gtest/gtest.h>

#include "tune/search/random.h"
#include "tune/search/sampler.h"

namespace trainwarden::tune {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Hyperparameter real(std::string name, double min, double max, bool log = false, double step = 0) {
  return {.name = std::move(name), .min = min, .max = max, .log = log, .step = step};
}
Hyperparameter whole(std::string name, double min, double max, bool log = false, double step = 0) {
  return {.name = std::move(name), .kind = ParameterKind::kInteger, .min = min, .max = max, .log = log, .step = step};
}
Hyperparameter choice(std::string name, std::vector<TriedValue> choices) {
  return {.name = std::move(name), .kind = ParameterKind::kChoice, .choices = std::move(choices)};
}

// A network whose second layer has a width only where there are two.
Space network() {
  Hyperparameter width = whole("width_2", 8, 64, true);
  width.when = ActiveWhen{"layers", {std::int64_t{2}, std::int64_t{3}}};
  Hyperparameter momentum = real("momentum", 0, 0.9, false, 0.1);
  momentum.when = ActiveWhen{"optimizer", {"sgd"}};
  return *Space::make(
      {real("rate", 1e-5, 1e-1, true), whole("layers", 1, 3), width, choice("optimizer", {"sgd", "adam"}), momentum});
}

TEST(SpaceTest, PositionsAndValuesGoBackAndForth) {
  const Space space = network();
  for (std::size_t i = 0; i < space.size(); ++i) {
    for (double unit = 0; unit <= 1; unit += 0.05) {
      const double value = space.from_unit(i, unit);
      EXPECT_EQ(space.nearest(i, value), value) << space[i].name;
      EXPECT_NEAR(space.from_unit(i, space.to_unit(i, value)), value, 1e-12 * std::abs(value)) << space[i].name;
    }
  }
  EXPECT_DOUBLE_EQ(space.from_unit(0, 0), 1e-5);
  EXPECT_DOUBLE_EQ(space.from_unit(0, 1), 1e-1);
  EXPECT_NEAR(space.from_unit(0, 0.5), 1e-3, 1e-15);
  EXPECT_DOUBLE_EQ(space.to_unit(1, 2), 0.5);
  EXPECT_EQ(space.from_unit(1, 0.34), 2);
  EXPECT_EQ(space.from_unit(4, 1), 0.9);
  EXPECT_TRUE(std::isnan(space.to_unit(0, kNaN)));
}

TEST(SpaceTest, EachWholeNumberHasAnIntervalOfEqualWidth) {
  const Space space = *Space::make({whole("batch", 16, 96, false, 16), choice("kind", {"a", "b", "c"})});
  EXPECT_EQ(space.count_of(0), 6u);
  std::map<double, int> counts;
  Random random(5);
  for (int i = 0; i < 60'000; ++i) ++counts[space.from_unit(0, random.uniform())];
  ASSERT_EQ(counts.size(), 6u);
  for (const auto& [value, count] : counts) EXPECT_NEAR(count, 10'000, 400) << value;
}

TEST(SpaceTest, StepsEndWhereTheRangeDoes) {
  const Space space = *Space::make({real("uneven", 0, 1, false, 0.3), real("tenths", 0, 0.3, false, 0.1)});
  EXPECT_NEAR(space.from_unit(0, 1), 0.9, 1e-15);
  EXPECT_EQ(space.count_of(0), 4u);
  EXPECT_NEAR(space.from_unit(1, 1), 0.3, 1e-15);
  EXPECT_EQ(space.count_of(1), 4u);
}

TEST(SpaceTest, CountsTheCombinationsThatThereAre) {
  EXPECT_EQ(network().count(), 0u);  // the rate is a continuum
  Hyperparameter depth = whole("depth", 1, 4);
  depth.when = ActiveWhen{"tree", {true}};
  const Space space = *Space::make(
      {choice("tree", {true, false}), depth, choice("seed", {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}})});
  EXPECT_EQ(space.count(), (4u + 1u) * 3u);
}

TEST(SpaceTest, CountsBelowALogarithmicParameter) {
  Hyperparameter child = whole("child", 1, 5);
  child.when = ActiveWhen{"parent", {std::int64_t{3}}};
  EXPECT_EQ(Space::make({whole("parent", 1, 8, true), child})->count(), 7u + 5u);
}

TEST(SpaceTest, RandomPointsAreInIt) {
  const Space space = network();
  Random random(1);
  std::set<bool> has_width;
  for (int i = 0; i < 200; ++i) {
    const Point point = *random_point(space, random);
    EXPECT_TRUE(space.contains(point));
    EXPECT_EQ(std::isnan(point[2]), point[1] == 1);
    EXPECT_EQ(std::isnan(point[4]), point[3] == 1);
    has_width.insert(!std::isnan(point[2]));
    const auto back = space.point_of(space.values_of(point));
    ASSERT_TRUE(back.ok()) << back.status().message();
    EXPECT_EQ(space.values_of(*back), space.values_of(point));
  }
  EXPECT_EQ(has_width.size(), 2u);
}

TEST(SpaceTest, SettlesWhatIsNotInIt) {
  const Space space = network();
  Point point = {1, 2.4, kNaN, 1, 0.5};
  space.settle(point);
  EXPECT_TRUE(space.contains(point));
  EXPECT_EQ(point[0], 0.1);
  EXPECT_EQ(point[1], 2);
  EXPECT_FALSE(std::isnan(point[2]));
  EXPECT_TRUE(std::isnan(point[4]));
}

TEST(SpaceTest, ConstraintsBindPoints) {
  const Space space =
      *Space::make({real("train", 0, 1), real("validation", 0, 1)}, {{{{"train", 1}, {"validation", 1}}, 1.0}});
  Random random(1);
  for (int i = 0; i < 100; ++i) {
    const Point point = *random_point(space, random);
    EXPECT_LE(point[0] + point[1], 1);
  }
  EXPECT_FALSE(space.contains({0.6, 0.6}));
  const auto refused = space.point_of({{"train", 0.6}, {"validation", 0.6}});
  EXPECT_EQ(refused.status().code(), Code::kInvalidArgument);
}

TEST(SpaceTest, ContradictorySpacesAreRefused) {
  const auto made =
      Space::make({real("train", 0.6, 1), real("validation", 0.6, 1)}, {{{{"train", 1}, {"validation", 1}}, 1.0}});
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.status().message().find("expected constraints that some points meet"), std::string::npos);
}

TEST(SpaceTest, AllMistakesAreNamedAtOnce) {
  Hyperparameter late = real("late", 0, 1);
  late.when = ActiveWhen{"missing", {"a"}};
  Hyperparameter first = real("first", 0, 1);
  first.first = 2.0;
  const auto made =
      Space::make({real("order", 1, 0), real("log", 0, 1, true), real("infinite", 0, INFINITY), choice("none", {}),
                   choice("twice", {"a", "a"}), whole("half", 0, 1.5), late, first, real("order", 0, 1)});
  ASSERT_FALSE(made.ok());
  for (const char* part :
       {"order: expected min <= max, found 1 and 0", "log: expected min > 0", "infinite: expected finite",
        "none: expected at least one choice", "twice: expected different choices", "half: expected whole",
        "late: expected a condition on a parameter that stands before it, found missing",
        "first: expected a first value that it can have, found 2", "order: expected different names"}) {
    EXPECT_NE(made.status().message().find(part), std::string::npos) << part << "\n" << made.status().message();
  }
  EXPECT_FALSE(Space::make({}).ok());
}

TEST(SpaceTest, ValuesThatItCannotHaveAreNamed) {
  const Space space = network();
  const TriedValues good = {{"rate", 1e-3}, {"layers", std::int64_t{1}}, {"optimizer", "adam"}};
  EXPECT_TRUE(space.point_of(good).ok());
  const auto message = [&](std::string name, TriedValue value) {
    TriedValues values = good;
    values[name] = std::move(value);
    return space.point_of(values).status().message();
  };
  EXPECT_EQ(message("rate", 1.0), "rate: expected a number from 1e-05 to 0.1, found 1");
  EXPECT_EQ(message("layers", 1.5), "layers: expected a whole number from 1 to 3, found 1.5");
  EXPECT_EQ(message("optimizer", "lamb"), "optimizer: expected one of sgd, adam, found lamb");
  EXPECT_NE(message("momentum", 0.5).find("optimizer has none of the values"), std::string::npos);
  EXPECT_EQ(message("speed", 1.0), "there is no parameter speed");
  EXPECT_NE(message("rate", "fast").find("found fast"), std::string::npos);
  TriedValues missing = good;
  missing.erase("rate");
  EXPECT_NE(space.point_of(missing).status().message().find("found nothing"), std::string::npos);
}

}  // namespace
}  // namespace trainwarden::tune
