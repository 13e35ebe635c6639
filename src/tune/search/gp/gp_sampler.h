// The sampler that asks Gaussian processes what to try next.
//
// First the values that the space names as the first to be tried, then quasi-random points until enough trials are
// over. Then a Gaussian process is fitted to each objective and constraint (kernel.h, kernel_fit.h), and the point is
// the one of the largest acquisition (acquisition.h, acquisition_search.h), all as logarithms:
//  - of one objective the expected improvement over the least of the posterior means at feasible observed points;
//  - of two or three objectives the expected hypervolume that is added, up to a reference point: the threshold of an
//    objective where it has one, else a tenth of the range of its costs beyond the worst;
//  - of more objectives the improvement of one Chebyshev sum with weights that are drawn for each trial (ParEGO,
//  Knowles 2006);
//  - the probability of each constraint is added; where no trial was feasible yet, it is all that counts.
// Trials that wait or run are conditioned on: of one objective by 64 draws of their results (sequential greedy qLogEI;
// a Latin hypercube of normals, which holds for any number of them), elsewhere by the mean. A trial that failed,
// that a verdict ended or whose value is not a number counts as bad as the worst finite one. A point of a countable
// space is suggested once.
#pragma once

#include <memory>

#include "tune/search/sampler.h"

namespace trainwarden::tune {

inline constexpr std::size_t kMaxGpParameters = 64;

struct GpOptions {
  std::size_t startup = 0;        // trials that are over before a process is asked; 0: the larger of 10 and 2d
  bool is_deterministic = false;  // the same point has the same result: the noise is not looked for
  std::size_t candidates = 2048;  // that are looked at before the best are improved; at least 1
};

// Beyond 500 observations it knows the best 100 and the newest. kFailedPrecondition: no metric to optimise or
// constrain, or more than kMaxGpParameters parameters. kResourceExhausted: all points of the space have been tried.
std::unique_ptr<TrialSampler> make_gp(GpOptions options = {});

}  // namespace trainwarden::tune
