// What is wrong with a space as somebody wrote it.
#pragma once

#include <vector>

#include "tune/search/space.h"

namespace trainwarden::tune {

// kInvalidArgument with all mistakes, a line each: "learning_rate: expected min <= max, found 1 and 0.1".
Status check_parameters(const std::vector<Hyperparameter>& parameters);
Status check_constraints(const std::vector<Hyperparameter>& parameters, const std::vector<Constraint>& constraints);

}  // namespace trainwarden::tune
