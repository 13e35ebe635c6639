// How a tensor's elements are spread, over steps.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ui/views/tensor_numbers.h"

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
};

// Which steps have a histogram: those with the value or a scalar, and those whose statistics were kept with one. Rules
// have statistics kept without.
struct HistogramSteps {
  std::vector<std::int64_t> steps;  // rising
  std::size_t without = 0;          // steps with numbers, but no histogram
  std::size_t unread = 0;           // steps with statistics that were not looked at in the time: ask again
};
struct HistogramQuestion {
  std::int64_t from = 0;  // global steps, both inclusive
  std::int64_t to = 0;
  std::optional<Mode> mode{};
  std::string worker{};  // empty: the first that has it
};
// Statistics are looked into once and remembered with the run. kNotFound when the run has no such tensor.
Result<HistogramSteps> steps_with_histogram(OpenRun::Use& use, std::string_view tensor,
                                            const HistogramQuestion& question,
                                            std::chrono::nanoseconds patience = std::chrono::milliseconds(300));

// Of the steps with a histogram. At most `most_bins` bins (at least 2).
HistogramMatrix histogram_matrix(const NumbersOverSteps& over, int most_bins);

}  // namespace trainwarden::views
