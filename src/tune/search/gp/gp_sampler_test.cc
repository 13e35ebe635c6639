#include "tune/search/gp/gp_sampler.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <set>

#include <gtest/gtest.h>

namespace trainwarden::tune {
namespace {

using CostFunction = std::function<double(const Point&)>;

Hyperparameter real_of(const std::string& name, double min, double max) {
  Hyperparameter parameter;
  parameter.name = name;
  parameter.min = min;
  parameter.max = max;
  return parameter;
}
Hyperparameter whole_of(const std::string& name, double min, double max) {
  Hyperparameter parameter = real_of(name, min, max);
  parameter.kind = ParameterKind::kInteger;
  return parameter;
}
Hyperparameter choice_of(const std::string& name, std::vector<TriedValue> choices) {
  Hyperparameter parameter;
  parameter.name = name;
  parameter.kind = ParameterKind::kChoice;
  parameter.choices = std::move(choices);
  return parameter;
}

History study_of(std::vector<Hyperparameter> parameters, std::uint64_t seed, std::vector<Constraint> constraints = {}) {
  return {*Space::make(std::move(parameters), std::move(constraints)), {{"loss"}}, {}, seed};
}

StudyTrial& add_trial(History& history, Point point, std::vector<double> values,
                      TrialState state = TrialState::kComplete) {
  StudyTrial& trial = history.trials.emplace_back();
  trial.number = static_cast<std::int64_t>(history.trials.size()) - 1;
  trial.point = std::move(point);
  trial.values = std::move(values);
  trial.state = state;
  return trial;
}

Point suggest_by(TrialSampler& sampler, const History& history) {
  const auto suggestion = sampler.suggest(history, static_cast<std::int64_t>(history.trials.size()));
  EXPECT_TRUE(suggestion) << suggestion.status().to_string();
  if (!suggestion) return {};
  EXPECT_TRUE(history.space.contains(suggestion->point));
  return suggestion->point;
}

// The least value of the first metric.
double search_with(History& history, const GpOptions& options, int trials,
                   const std::function<std::vector<double>(const Point&)>& values_at) {
  const auto sampler = make_gp(options);
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < trials; ++i) {
    const Point point = suggest_by(*sampler, history);
    if (point.empty()) return best;
    best = std::min(best, add_trial(history, point, values_at(point)).values[0]);
  }
  return best;
}

double branin(const Point& x) {
  const double a =
      x[1] - 5.1 / (4 * std::numbers::pi * std::numbers::pi) * x[0] * x[0] + 5 / std::numbers::pi * x[0] - 6;
  return a * a + 10 * (1 - 1 / (8 * std::numbers::pi)) * std::cos(x[0]) + 10;
}

double hartmann6(const Point& x) {
  constexpr double kHeights[] = {1, 1.2, 3, 3.2};
  constexpr double kWidths[4][6] = {
      {10, 3, 17, 3.5, 1.7, 8}, {0.05, 10, 17, 0.1, 8, 14}, {3, 3.5, 1.7, 10, 17, 8}, {17, 8, 0.05, 10, 0.1, 14}};
  constexpr double kCentres[4][6] = {{1312, 1696, 5569, 124, 8283, 5886},
                                     {2329, 4135, 8307, 3736, 1004, 9991},
                                     {2348, 1451, 3522, 2883, 3047, 6650},
                                     {4047, 8828, 8732, 5743, 1091, 381}};
  double sum = 0;
  for (int i = 0; i < 4; ++i) {
    double exponent = 0;
    for (int j = 0; j < 6; ++j) {
      const double distance = x[static_cast<std::size_t>(j)] - 1e-4 * kCentres[i][j];
      exponent += kWidths[i][j] * distance * distance;
    }
    sum -= kHeights[i] * std::exp(-exponent);
  }
  return sum;
}

double median_regret(const std::vector<Hyperparameter>& parameters, const CostFunction& cost, double least, int seeds) {
  std::vector<double> regrets;
  for (int seed = 0; seed < seeds; ++seed) {
    History history = study_of(parameters, static_cast<std::uint64_t>(seed));
    GpOptions options;
    options.is_deterministic = true;
    const double best = search_with(history, options, 50, [&](const Point& x) { return std::vector{cost(x)}; });
    regrets.push_back(best - least);
  }
  std::sort(regrets.begin(), regrets.end());
  return regrets[regrets.size() / 2];
}

TEST(GpSamplerTest, FindsTheMinimumOfBranin) {
  EXPECT_LE(median_regret({real_of("x", -5, 10), real_of("y", 0, 15)}, branin, 0.397887357729738, 5), 1e-3);
}

// Two of five searches end in the second best valley (regret 0.12), so that few seeds say little: for 20 s.
TEST(GpSamplerTest, DISABLED_FindsTheMinimumOfHartmann6) {
  std::vector<Hyperparameter> parameters;
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) parameters.push_back(real_of(name, 0, 1));
  EXPECT_LE(median_regret(parameters, hartmann6, -3.32236801141551, 61), 5e-3);
}

TEST(GpSamplerTest, SearchesMixedAndConditionalSpaces) {
  Hyperparameter momentum = real_of("momentum", 0, 1);
  momentum.when = ActiveWhen{"optimiser", {std::string("sgd")}};
  Hyperparameter rate = real_of("rate", 1e-5, 1);
  rate.log = true;
  History history =
      study_of({rate, choice_of("optimiser", {std::string("adam"), std::string("sgd"), std::string("lamb")}), momentum,
                whole_of("layers", 1, 40)},
               3);
  const double best = search_with(history, {}, 45, [](const Point& x) {
    const double at_momentum = std::isnan(x[2]) ? 0.5 : std::abs(x[2] - 0.9);
    return std::vector{std::pow(std::log10(x[0]) + 2, 2) + at_momentum + std::abs(x[3] - 27) / 20 +
                       (x[1] == 1 ? 0 : 0.3)};
  });
  EXPECT_LT(best, 0.12);  // 0 at 0.01, sgd, 0.9, 27; without momentum at least 0.8
}

TEST(GpSamplerTest, KeepsToConstraintsBetweenParameters) {
  History history = study_of({real_of("x", 0, 1), real_of("y", 0, 1)}, 1, {{{{"x", 1}, {"y", 1}}, 0.8}});
  const double best = search_with(history, {}, 25, [](const Point& x) { return std::vector{-(x[0] + 2 * x[1])}; });
  EXPECT_LT(best, -1.55);  // the corner (0, 0.8)
}

// Least x + y where x * y must be 0.25 at least: 1 at (0.5, 0.5).
TEST(GpSamplerTest, MeetsConstraintsOnMetrics) {
  History history = study_of({real_of("x", 0, 1), real_of("y", 0, 1)}, 2);
  history.metrics.push_back({"product", Goal::kMaximize, Strategy::kConstrain, 0.25});
  search_with(history, {}, 30, [](const Point& x) { return std::vector{x[0] + x[1], x[0] * x[1]}; });
  const auto best = best_of(history);
  ASSERT_TRUE(best);
  EXPECT_LT(history.trials[*best].values[0], 1.05);
}

TEST(GpSamplerTest, LooksForWhatIsFeasibleFirst) {
  History history = study_of({real_of("x", 0, 1), real_of("y", 0, 1)}, 2);
  history.metrics.push_back({"far", Goal::kMinimize, Strategy::kConstrain, 0.05});
  search_with(history, {}, 20, [](const Point& x) { return std::vector{x[0], std::hypot(x[0] - 0.93, x[1] - 0.07)}; });
  EXPECT_TRUE(best_of(history));
}

TEST(GpSamplerTest, SpreadsAlongTheFrontOfTwoObjectives) {
  History history = study_of({real_of("x", 0, 1), real_of("y", 0, 1)}, 2);
  history.metrics.push_back({"other"});
  search_with(history, {}, 30, [](const Point& x) {
    return std::vector{x[0] * x[0] + x[1], (x[0] - 1) * (x[0] - 1) + x[1]};  // the front is y = 0
  });
  int near_front = 0;
  double low = 1, high = 0;
  for (std::size_t i = 10; i < history.trials.size(); ++i) {
    const Point& x = history.trials[i].point;
    if (x[1] > 0.02) continue;
    ++near_front;
    low = std::min(low, x[0]);
    high = std::max(high, x[0]);
  }
  EXPECT_GE(near_front, 12);
  EXPECT_LT(low, 0.15);
  EXPECT_GT(high, 0.85);
}

TEST(GpSamplerTest, TakesThreeAndMoreObjectives) {
  for (const std::size_t count : {3, 4}) {
    History history = study_of({real_of("x", 0, 1), real_of("y", 0, 1)}, 2);
    while (history.metrics.size() < count) history.metrics.push_back({"more" + std::to_string(history.metrics.size())});
    search_with(history, {}, 16, [&](const Point& x) {
      std::vector<double> values;
      for (std::size_t i = 0; i < count; ++i) values.push_back(std::abs(x[0] - 0.3 * static_cast<double>(i)) + x[1]);
      return values;
    });
    EXPECT_EQ(history.trials.size(), 16u);
  }
}

TEST(GpSamplerTest, HoldsValuesThatAreNoNumbers) {
  for (const double value : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity(), 1e308, -1e308, 0.0}) {
    History history = study_of({real_of("x", 0, 1), real_of("y", 0, 1)}, 2);
    search_with(history, {}, 14, [&](const Point&) { return std::vector{value}; });  // all are alike
    EXPECT_EQ(history.trials.size(), 14u) << value;
    history.trials.clear();
    const double best = search_with(history, {}, 28, [&](const Point& x) {
      return std::vector{x[0] > 0.5 ? std::max(value, 1e9) : std::hypot(x[0] - 0.4, x[1] - 0.7)};
    });
    EXPECT_LT(best, 0.03) << value;
  }
}

TEST(GpSamplerTest, HoldsPrunedFailedAndDoubledTrials) {
  History history = study_of({real_of("x", 0, 1), real_of("y", 0, 1)}, 2);
  for (int i = 0; i < 12; ++i) {
    const double at = i / 24.0;
    add_trial(history, {at, 0.5}, {std::abs(at - 0.3)});
    add_trial(history, {at, 0.5}, {std::abs(at - 0.3)});
  }
  add_trial(history, {0.9, 0.9}, {}, TrialState::kFailed);
  add_trial(history, {0.8, 0.8}, {}, TrialState::kPruned).series = {{{1, 0.9}}};
  const Point point = suggest_by(*make_gp(), history);
  EXPECT_LT(std::abs(point[0] - 0.3), 0.15);
}

TEST(GpSamplerTest, WhatAVerdictEndedCountsAsFailed) {
  History history = study_of({real_of("x", 0, 1), real_of("y", 0, 1)}, 2);
  for (int i = 0; i < 12; ++i) add_trial(history, {i / 24.0, 0.5}, {std::abs(i / 24.0 - 0.3)});
  add_trial(history, {0.9, 0.9}, {0}, TrialState::kPruned).series = {{{1, 0}}};
  const Point as_pruned = suggest_by(*make_gp(), history);
  history.trials.back().ended_by_verdict = true;
  const Point as_ruinous = suggest_by(*make_gp(), history);
  history.trials.back().state = TrialState::kFailed;
  EXPECT_EQ(suggest_by(*make_gp(), history), as_ruinous);
  EXPECT_NE(as_pruned, as_ruinous);
}

TEST(GpSamplerTest, AFreshSamplerSuggestsTheSame) {
  History history = study_of({real_of("x", -5, 10), real_of("y", 0, 15)}, 4);
  const auto sampler = make_gp();
  for (int i = 0; i < 16; ++i) {
    const Point point = suggest_by(*sampler, history);
    const History copy = history;
    EXPECT_EQ(suggest_by(*make_gp(), copy), point) << i;
    add_trial(history, point, {branin(point)}, i % 5 == 4 ? TrialState::kRunning : TrialState::kComplete);
  }
}

TEST(GpSamplerTest, RunningTrialsAreNotSuggestedAgain) {
  History history = study_of({real_of("x", -5, 10), real_of("y", 0, 15)}, 4);
  search_with(history, {}, 20, [](const Point& x) { return std::vector{branin(x)}; });
  const auto sampler = make_gp();
  std::vector<Point> running;
  for (int i = 0; i < 4; ++i) {
    const Point point = suggest_by(*sampler, history);
    for (const Point& other : running) {
      EXPECT_GT(std::hypot((point[0] - other[0]) / 15, (point[1] - other[1]) / 15), 0.01);
    }
    running.push_back(point);
    add_trial(history, point, {}, TrialState::kRunning);
  }
}

TEST(GpSamplerTest, SuggestsEachPointOfACountableSpaceOnce) {
  Hyperparameter batch = choice_of("batch", {std::int64_t{16}, std::int64_t{32}, std::int64_t{64}});
  batch.ordered = true;
  History history =
      study_of({batch, whole_of("layers", 1, 5), choice_of("flag", {true, false})}, 1, {{{{"layers", 1}}, 4}});
  std::set<Point> seen;
  for (int i = 0; i < 24; ++i) {
    const Point point = suggest_by(*make_gp(), history);
    EXPECT_TRUE(seen.insert(point).second) << i;
    add_trial(history, point, {point[1] - point[0]});
  }
  const auto none = make_gp()->suggest(history, 24);
  EXPECT_EQ(none.status().code(), Code::kResourceExhausted);
}

TEST(GpSamplerTest, EndsASpaceThatIsSmallerThanItsStart) {
  History history = study_of({whole_of("layers", 1, 4)}, 1);
  std::set<Point> seen;
  for (int i = 0; i < 4; ++i) {
    const Point point = suggest_by(*make_gp(), history);
    EXPECT_TRUE(seen.insert(point).second);
    add_trial(history, point, {}, TrialState::kRunning);
  }
  EXPECT_EQ(make_gp()->suggest(history, 4).status().code(), Code::kResourceExhausted);
}

TEST(GpSamplerTest, StartsWithWhatIsNamedFirst) {
  Hyperparameter rate = real_of("rate", 0, 1);
  rate.first = TriedValue(0.125);
  History history = study_of({rate, whole_of("layers", 1, 5)}, 1);
  const Point first = suggest_by(*make_gp(), history);
  EXPECT_EQ(first, (Point{0.125, 3}));
  add_trial(history, first, {1});
  EXPECT_NE(suggest_by(*make_gp(), history), first);
}

TEST(GpSamplerTest, KnowsTheBestOfALongHistory) {
  History history = study_of({real_of("x", 0, 1), real_of("y", 0, 1)}, 1);
  Random random(1);
  for (int i = 0; i < 700; ++i) {
    const Point point = uniform_point(history.space, random);
    add_trial(history, point, {std::hypot(point[0] - 0.2, point[1] - 0.9)});
  }
  history.trials[3].point = {0.2, 0.9};
  history.trials[3].values = {0};
  const Point point = suggest_by(*make_gp(), history);
  EXPECT_LT(std::hypot(point[0] - 0.2, point[1] - 0.9), 0.1);
}

TEST(GpSamplerTest, SaysWhatItCannotDo) {
  std::vector<Hyperparameter> parameters;
  for (std::size_t i = 0; i <= kMaxGpParameters; ++i) parameters.push_back(real_of("x" + std::to_string(i), 0, 1));
  const auto wide = make_gp()->suggest(study_of(parameters, 1), 0);
  EXPECT_EQ(wide.status().code(), Code::kFailedPrecondition);
  EXPECT_NE(wide.status().message().find("tpe"), std::string::npos);
  History aimless = study_of({real_of("x", 0, 1)}, 1);
  aimless.metrics = {{"loss", Goal::kMinimize, Strategy::kStore}};
  EXPECT_EQ(make_gp()->suggest(aimless, 0).status().code(), Code::kFailedPrecondition);
}

}  // namespace
}  // namespace trainwarden::tune
