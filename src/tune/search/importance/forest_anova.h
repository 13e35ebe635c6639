// ForestAnova: which parameters, and which two of them together, make a metric differ over the whole space.
//
// fANOVA of Hutter, Hoos, Leyton-Brown (2014) with random forests (Breiman 2001). Trees find something in anything, and
// a parameter of no effect would have a share by that alone. So, unlike the paper's, variances here are covariances
// between trees that have no trial in common: what each finds by chance has nothing to do with the other's, and
// cancels. Each round draws as many trials as there are, with replacement (Efron 1979), deals them to two halves, and
// grows a few trees on each. Estimates are means over rounds, intervals their spread. What a round has not drawn it
// predicts: the R² is of predictions of trials by trees that have not seen them.
//
// Where a parameter is not active it has a value drawn at random, in each round another one: it has no effect there.
// Constraints between parameters are not looked at: all positions count the same.
#pragma once

#include <cstdint>
#include <vector>

#include "tune/search/importance/importance_sample.h"
#include "tune/search/importance/importance_share.h"

namespace trainwarden::tune {

// A forest that explains less of trials that it has not seen says nothing of the metric.
inline constexpr double kMinTrustedR2 = 0.3;
inline constexpr std::size_t kMaxImportancePairs = 10;

struct PairShare {
  std::size_t first = 0, second = 0;  // of the sample's parameters
  ImportanceShare share;              // beyond what each has alone
};

struct ForestAnova {
  double r2 = 0;  // 1 - squared error / variance, of trials that trees have not seen; below 0: worse than the mean
  bool is_trusted = false;
  // Empty where it is not trusted. With the pairs 1 or less together: the rest is of other pairs, and of more than two.
  std::vector<ImportanceShare> single;  // of the sample's parameters
  std::vector<PairShare> pairs;         // the largest first
};

// `sample` has parameters, and costs that differ.
ForestAnova forest_anova(const ImportanceSample& sample, std::uint64_t seed);

}  // namespace trainwarden::tune
