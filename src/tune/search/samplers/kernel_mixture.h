// KernelMixture: a density over some parameters of a space, made of kernels around observed points.
//
// The Parzen estimators of TPE (Bergstra et al. 2011; multivariate as by Falkner et al. 2018; details and what they are
// good for: Watanabe 2023, "Tree-structured Parzen estimator"). There is one kernel for each observation, and a wide
// one in the middle, the prior, which keeps everything possible. A kernel is a product over the parameters:
// - numbers and ordered choices: on their positions in [0, 1], a normal distribution cut off at both ends. Its
// deviation
//   is the larger distance to the neighbours among the observations (that of the outermost: to the one neighbour), but
//   at least 1 / min(100, 2 + observations) and at most 1; that of the prior is 1. Where only some values are possible,
//   each has the mass of its interval.
// - other choices: 1 for the one observed and prior_weight / kernels for each of all, normalised.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tune/search/random.h"
#include "tune/search/space.h"

namespace trainwarden::tune {

class MixtureAxis;

class KernelMixture {
 public:
  // `parameters` (in order) are active in all observations. One weight for each observation, which is positive, as the
  // prior's is. The space outlives it.
  KernelMixture(const Space& space, std::vector<std::size_t> parameters, std::span<const Point* const> observations,
                std::span<const double> weights, double prior_weight = 1);
  ~KernelMixture();
  KernelMixture(KernelMixture&&) noexcept;
  KernelMixture& operator=(KernelMixture&&) noexcept;

  // Sets the parameters to values that they can have.
  void draw(Random& random, Point& point) const;
  // Of the positions of continua, and of the values of what has values: so a density in the one, a probability in the
  // other.
  double log_density(const Point& point) const;

 private:
  void add_logarithms(std::vector<double>& factors);  // which are 1 thereafter

  std::vector<std::size_t> parameters_;
  std::vector<MixtureAxis> axes_;
  std::vector<double> cumulative_;   // of the kernels' weights
  std::vector<double> log_weights_;  // with the factors of the kernels that do not depend on where they are looked at
  mutable std::vector<double> terms_;
};

// By the age of n observations, oldest first: 1 for all below 25; otherwise the newest 25 have 1, and the older ones
// rise from 1 / n to 1.
std::vector<double> weights_by_age(std::size_t n);

}  // namespace trainwarden::tune
