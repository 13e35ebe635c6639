// CMA-ES: a normal distribution that learns from generations of trials.
#pragma once

#include <memory>

#include "tune/search/sampler.h"

namespace trainwarden::tune {

struct CmaesOptions {
  std::size_t population = 0;  // 0: 4 + floor(3 ln n) of n parameters
  double deviation = 1.0 / 6;  // at the start, in positions
};

// "cmaes", by covariance_evolution.h, on the positions of numbers and ordered choices that are always active. What has
// steps is rounded, with a least deviation that lets one in (parameters * population) draws leave its value. Other
// choices and conditional parameters are drawn at random: nothing is learnt about them.
// - The distribution starts at the first values of the space; where there are none at the best trial of the studies
// that
//   this one starts from, else in the middle.
// - The note "cmaes" says the generation of a trial. A generation has ended when `population` of its trials are
// complete
//   or pruned; while others of it still run, more are drawn from the same distribution, and what ends late joins its
//   generation. Trials without the note are not learnt from.
// - Points outside, and those that miss a constraint between parameters, are drawn again, a hundred times; then they
// are
//   moved to the border, and if that misses a constraint, a random point is taken.
// - When all deviations are below 1e-7 it starts again at a random point with twice the population.
// - Pruned and infeasible trials, and those that a verdict ended, are ranked as ranking.h says: the distribution moves
//   away from what is ruinous. What failed is not learnt from.
// kFailedPrecondition: several objectives (nsga2 or tpe can), or no parameter that it can search (tpe can).
std::unique_ptr<TrialSampler> make_cmaes_sampler(const CmaesOptions& options = {});

}  // namespace trainwarden::tune
