// The range of a parameter as Optuna writes it:
//
//   {"name": "FloatDistribution", "attributes": {"low": 0.1, "high": 1.0, "log": true, "step": null}}
//
// and IntDistribution, CategoricalDistribution ("choices"), and those of Optuna 2: UniformDistribution,
// LogUniformDistribution, DiscreteUniformDistribution ("q"), IntUniformDistribution, IntLogUniformDistribution.
#pragma once

#include <string>
#include <string_view>

#include "tune/optuna/optuna_study.h"

namespace trainwarden::tune {

// None of Python among choices becomes the text "None". kDataLoss when it is none of these.
Result<Hyperparameter> parameter_of_distribution(std::string name, std::string_view distribution);

// Reads the distribution, and checks that the value is one of it. kDataLoss.
Status add_parameter(OptunaTrial& trial, const std::string& name, double value, std::string_view distribution);

}  // namespace trainwarden::tune
