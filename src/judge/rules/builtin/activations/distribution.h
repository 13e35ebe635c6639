// Measures of how a tensor's elements are spread, from its values or from the histogram of its statistics.
//
// A histogram has four bins an octave; within a bin the density is taken to rise or fall evenly from that of one
// neighbour to that of the other, and the two extremes, which are known exactly, stand by themselves.
// That puts a quantile of a smooth distribution off by at most an eighth of itself (half a bin), and the kurtosis by a
// few percent at most. Where all elements lie within few bins (far from 0, close together) there is no kurtosis to be
// had: that shows in the variance that the same bins give, which may be off by a tenth.
#pragma once

#include <vector>

#include "trainwarden/rule.h"

namespace trainwarden::rules {

// q in [0, 1]; linear between neighbours, as NumPy's percentile. NaN for no elements.
double quantile(std::vector<double> elements, double q);
double quantile(const Statistics& statistics, double q);  // needs the histogram

// Σ(x - mean)⁴ / n / variance²: 3 for a normal distribution. NaN when the variance is 0 or there are no elements.
double kurtosis(const std::vector<double>& elements);
double kurtosis(const Statistics& statistics);  // needs the histogram; NaN also when that is too coarse

// quantile(high) - quantile(low), and kurtosis(), of a tensor. kOutOfRange: neither values nor a histogram were kept,
// it has fewer than `least_count` elements, or not all of them are finite.
Result<double> quantile_range(const TensorSpot& spot, const StepWindow& window, double low, double high,
                              std::uint64_t least_count);
Result<double> kurtosis(const TensorSpot& spot, const StepWindow& window, std::uint64_t least_count);

}  // namespace trainwarden::rules
