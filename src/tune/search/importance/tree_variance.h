// TreeVariance: the functional ANOVA of trees, exact, leaf by leaf.
//
// Hutter, Hoos, Leyton-Brown: An Efficient Approach for Assessing Hyperparameter Importance (ICML 2014). The variance
// of a function over the space, all positions equally likely, is the sum of the variances of its parts: of each
// parameter alone, of each two beyond that, and so on.
//
// Of two functions that are constant on leaves l and m, with values v, volumes w and shares s in a parameter, let
// q_i = s_i(l and m) / (s_i(l) s_i(m)) - 1: 0 where either leaf has all values of i. The covariance of their parts is
// the sum over all pairs of leaves of v_l w_l v_m w_m times q_i for the parts of i, q_i q_k for those of i and k, and
// prod(1 + q_i) - 1 for the functions as a whole.
#pragma once

#include <vector>

#include "tune/search/importance/regression_tree.h"

namespace trainwarden::tune {

struct TreeVariance {
  explicit TreeVariance(std::size_t parameters)
      : parameters_count(parameters), single(parameters, 0), pairs(parameters * parameters, 0) {}

  std::size_t parameters_count;
  double total = 0;
  std::vector<double> single;
  std::vector<double> pairs;  // of i < k at i * parameters_count + k

  double& pair(std::size_t i, std::size_t k) { return pairs[i * parameters_count + k]; }
  double pair(std::size_t i, std::size_t k) const { return pairs[i * parameters_count + k]; }
};

// Adds `factor` times the covariances of the parts of two trees. `mean` is taken off all values, for the sake of
// rounding.
void add_covariance(const ImportanceSample& sample, const std::vector<TreeLeaf>& one,
                    const std::vector<TreeLeaf>& other, double mean, double factor, TreeVariance& sum);

}  // namespace trainwarden::tune
