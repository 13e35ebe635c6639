// From a point to a better one near it, in a space of continuous and discrete parameters.
#pragma once

#include "tune/search/gp/acquisition_search.h"

namespace trainwarden::tune {

struct ScoredPoint {
  Point point;
  double score = 0;  // of the acquisition
};

// Not worse than the start, which meets the constraints and is not excluded.
ScoredPoint search_near(const AcquisitionProblem& problem, ScoredPoint start);

}  // namespace trainwarden::tune
