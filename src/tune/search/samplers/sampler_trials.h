// Searches for the tests of samplers.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "tune/search/sampler.h"

namespace trainwarden::tune {

using Objectives = std::function<std::vector<double>(const Point&)>;

// Adds `count` trials that are complete at once.
inline void search(TrialSampler& sampler, History& history, int count, const Objectives& objectives) {
  for (int i = 0; i < count; ++i) {
    const auto number = static_cast<std::int64_t>(history.trials.size());
    auto suggestion = sampler.suggest(history, number);
    ASSERT_TRUE(suggestion.ok()) << suggestion.status().message();
    ASSERT_TRUE(history.space.contains(suggestion->point)) << sampler.name() << ", trial " << number;
    history.trials.push_back({.number = number,
                              .point = suggestion->point,
                              .state = TrialState::kComplete,
                              .values = objectives(suggestion->point),
                              .notes = suggestion->notes});
  }
}

// The best value of some trials.
inline double best_value(const History& history, std::size_t first, std::size_t end) {
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = first; i < end; ++i) best = std::min(best, history.trials[i].values[0]);
  return best;
}

inline Hyperparameter number_between(std::string name, double min, double max) {
  return {.name = std::move(name), .min = min, .max = max};
}
inline Hyperparameter whole_between(std::string name, double min, double max) {
  return {.name = std::move(name), .kind = ParameterKind::kInteger, .min = min, .max = max};
}
inline Hyperparameter choice_of(std::string name, std::vector<TriedValue> choices) {
  return {.name = std::move(name), .kind = ParameterKind::kChoice, .choices = std::move(choices)};
}

// All kinds of parameters, and a condition.
inline Space mixed_space() {
  Hyperparameter rate = number_between("rate", 1e-5, 1e-1);
  rate.log = true;
  Hyperparameter momentum = number_between("momentum", 0, 0.9);
  momentum.step = 0.1;
  momentum.when = ActiveWhen{"optimizer", {"sgd"}};
  Hyperparameter size = choice_of("size", {std::int64_t{16}, std::int64_t{32}, std::int64_t{64}});
  size.ordered = true;
  return *Space::make(
      {rate, whole_between("layers", 1, 6), choice_of("optimizer", {"sgd", "adam", "lamb"}), momentum, size});
}

// Smallest, 0, at rate 1e-3, 4 layers, sgd with 0.9, size 32.
inline std::vector<double> mixed_cost(const Point& point) {
  const double rate = std::log10(point[0]) + 3, layers = (point[1] - 4) / 2;
  const double optimizer = point[2] == 0 ? 0.9 - point[3] : 1;
  return {rate * rate + layers * layers + optimizer + std::abs(point[4] - 1)};
}

}  // namespace trainwarden::tune
