// How a tensor's elements are spread, over steps.
#pragma once

#include <cstdint>
#include <vector>

#include "views/tensor_numbers.h"

namespace trainwarden::views {

// Bins of the same limits for all steps: a few of Histogram's together, on the negative side as on the positive. Zeros
// and what is no number lie in no bin.
struct HistogramMatrix {
  std::vector<std::int64_t> steps;
  std::vector<double>
      lower;  // of each bin, rising; counts are of elements in [lower, upper), negative ones (lower, upper]
  std::vector<double> upper;
  std::vector<double> counts;  // steps x bins
  // Of each step.
  std::vector<double> zeros;
  std::vector<double> tiny;  // too small for a bin: below Histogram::lower_edge(1)
  std::vector<double> nans;
  std::vector<double> positive_infs;
  std::vector<double> negative_infs;
  std::size_t without = 0;  // steps whose numbers came without a histogram
};

// At most `most_bins` bins (at least 2).
HistogramMatrix histogram_matrix(const NumbersOverSteps& over, int most_bins);

}  // namespace trainwarden::views
