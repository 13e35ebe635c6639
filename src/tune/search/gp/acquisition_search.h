// The point of a space at which an acquisition is largest.
#pragma once

#include "tune/search/gp/acquisition.h"
#include "tune/search/gp/excluded_points.h"
#include "tune/search/random.h"

namespace trainwarden::tune {

// kResourceExhausted: all points of the space have been tried.
Status nothing_left();

struct AcquisitionSearchOptions {
  std::size_t candidates = 2048;  // that are looked at before the best are improved
  std::size_t starts = 6;         // of local searches, besides the incumbents
};

// What a search of an acquisition needs; all of it outlives the search.
struct AcquisitionProblem {
  const Space& space;
  const GpAcquisition& acquisition;
  const ExcludedPoints& tried;
  Eigen::VectorXd weights;        // of the kernel: how quickly things change with each position
  std::vector<Point> incumbents;  // the best points of the history, the best one first
};

// A space of at most as many points as there are candidates is searched whole. Elsewhere quasi-random points, and
// random ones near the incumbents, are looked at; from the best of them, some drawn by their acquisition, and the
// incumbents, a local search goes up: a quasi-Newton method on the continuous parameters in turn with trying the values
// of the others, one parameter at a time. Only points that meet the constraints between parameters and that are not
// excluded are answered. kResourceExhausted: there is none.
Result<Point> search_acquisition(const AcquisitionProblem& problem, const AcquisitionSearchOptions& options,
                                 Random& random);

}  // namespace trainwarden::tune
