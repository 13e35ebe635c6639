// Rates: what a counter or a gauge over time says, as a rate, a share or quantiles.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trainwarden/metric.h"

namespace trainwarden::profile {

// How fast a counter rose, in its unit a second: a value for each sample but the first, at its time, over the time
// since the one before. Where a counter began anew (it fell), or no time passed, there is none.
std::vector<Sample> rate_of(std::span<const Sample> counter);

// How much a counter rose over all samples; what was before it began anew counts too. None with fewer than two samples.
std::optional<double> rise_of(std::span<const Sample> counter);

// The samples in [from, to), as they lie.
std::span<const Sample> between(std::span<const Sample> samples, std::int64_t from_unix_ns, std::int64_t to_unix_ns);

// Of values that were sorted, with linear interpolation between neighbours, as NumPy's default has it; `share` in
// [0, 1]. Not for an empty list.
double quantile_of_sorted(std::span<const double> sorted, double share);

struct Quantiles {
  double min = 0, p25 = 0, p50 = 0, p75 = 0, p95 = 0, p99 = 0, max = 0, mean = 0;
  std::size_t count = 0;
};
// Of what is finite; none when nothing is.
std::optional<Quantiles> quantiles_of(std::span<const Sample> samples);

}  // namespace trainwarden::profile
