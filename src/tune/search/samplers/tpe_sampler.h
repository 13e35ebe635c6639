// Tree-structured Parzen estimators: points that look like the good ones and unlike the others.
#pragma once

#include <memory>
#include <optional>

#include "tune/search/sampler.h"

namespace trainwarden::tune {

struct TpeOptions {
  bool multivariate = true;  // parameters that are active together are drawn together; false: each by itself
  std::size_t startup = 10;  // so many trials are to be over before anything is learnt from them
  // So many points are drawn from l for a suggestion. 0: 24 in a countable space; elsewhere a hundred, and 24 at least
  // where there are more than 240 trials: 24,000 by the number of trials, since each is compared with each.
  std::size_t candidates = 0;
  double prior_weight = 1;
};

// "tpe" (Bergstra et al. 2011; Watanabe 2023). Of n complete and pruned trials the ceil(n / 10) best (at most 25 where
// there is one objective) make the density l, the others and those that run, wait, have failed or were ended by a
// verdict the density g (see kernel_mixture.h); of the candidates drawn from l that with the largest l / g is
// suggested. Weights are by age; with several objectives those of l are 1. What is best is said by ranking.h: with
// several objectives the nondominated fronts in turn (MOTPE, Ozaki et al. 2020), and of the last that has room the
// least crowded.
// - Before: the first values of the space as trial 0, then random points. Trials of another study that this one starts
//   from count, as the oldest.
// - Conditional spaces: groups of parameters that are active together, one after the other, each from the trials in
//   which it was active.
// - Constraints between parameters: candidates that miss them are drawn anew, a few hundred times; then a random point.
// - A countable space has each point tried once; then kResourceExhausted.
std::unique_ptr<TrialSampler> make_tpe_sampler(const TpeOptions& options = {});

}  // namespace trainwarden::tune
