// What samplers try before they have learnt anything.
#pragma once

#include <optional>

#include "tune/search/history.h"
#include "tune/search/random.h"

namespace trainwarden::tune {

// All first values of the space at once; the middle of its range where a parameter has none. None where no parameter
// has one, and where the point would miss the constraints.
std::optional<Point> first_point(const Space& space);

// Of trial 0 the first point, where there is one; a random one otherwise. Errors of random_point().
Result<Point> startup_point(const Space& space, std::int64_t number, Random& random);

}  // namespace trainwarden::tune
