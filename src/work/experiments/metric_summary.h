// MetricSummary: what is kept of a metric's values, without the values.
#pragma once

#include <cstdint>

namespace trainwarden::experiments {

// Smallest, largest, mean and deviation are of the finite values; there may be none. One thread at a time.
struct MetricSummary {
  std::uint64_t count = 0;   // of all values
  std::uint64_t finite = 0;  // of those that are neither NaN nor infinite
  double min = 0;
  double max = 0;
  double mean = 0;
  double m2 = 0;    // sum of squared distances from the mean
  double last = 0;  // also one that is not finite
  std::int64_t last_unix_ns = 0;

  // Welford's update (B. P. Welford, Technometrics 4, 1962).
  void add(double value, std::int64_t unix_ns);
  // As if all values of the other one had been added too (T. F. Chan et al., COMPSTAT 1982). The last one is the later.
  void merge(const MetricSummary& other);
  double deviation() const;  // of the population: divided by the count

  friend bool operator==(const MetricSummary&, const MetricSummary&) = default;
};

}  // namespace trainwarden::experiments
