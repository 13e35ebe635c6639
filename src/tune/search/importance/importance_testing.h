// Studies for the tests of importance.
#pragma once

#include <functional>

#include "tune/search/history.h"
#include "tune/search/sampler.h"
#include "tune/search/samplers/sampler_trials.h"

namespace trainwarden::tune {

using CostOfPoint = std::function<double(const Point&, Random&)>;

// Complete trials at points that are drawn uniformly.
inline History tried_uniformly(Space space, std::size_t trials, const CostOfPoint& cost, std::uint64_t seed = 7) {
  History history{.space = std::move(space), .metrics = {{.name = "loss"}}, .trials = {}, .seed = seed};
  Random random(seed);
  for (std::size_t i = 0; i < trials; ++i) {
    StudyTrial trial{.number = static_cast<std::int64_t>(i), .state = TrialState::kComplete};
    trial.point = uniform_point(history.space, random);
    trial.values = {cost(trial.point, random)};
    history.trials.push_back(std::move(trial));
  }
  return history;
}

// "x0", "x1" and so on, in [0, 1].
inline Space unit_cube(std::size_t parameters) {
  std::vector<Hyperparameter> list;
  for (std::size_t i = 0; i < parameters; ++i) list.push_back(number_between("x" + std::to_string(i), 0, 1));
  return *Space::make(std::move(list));
}

}  // namespace trainwarden::tune
