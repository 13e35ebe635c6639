#include "data/tensor/float_summary.h"

#include <algorithm>
#include <cmath>

namespace trainwarden {

void FloatSummary::add(const float* values, std::size_t count) {
  FloatSums sums;
  const bool guessed = guess_ && count == kFloatBlock;
  const FloatScan scan = guessed ? scan_and_sum_block(values, *guess_, sums) : scan_floats(values, count);
  if (!scan.finite) {
    alignas(64) float finite[kFloatBlock];
    const std::size_t finite_count = pick_finite(values, count, finite);
    if (finite_count > 0) add_finite(finite, finite_count, scan_floats(finite, finite_count));
  } else if (guessed && guess_->holds(scan)) {
    add_extremes(scan);
    add_sums(sums, *guess_);
  } else {
    add_finite(values, count, scan);
  }
}

std::size_t FloatSummary::pick_finite(const float* values, std::size_t count, float* finite) {
  std::size_t finite_count = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const float value = values[i];
    if (std::isfinite(value)) {
      finite[finite_count++] = value;
    } else if (std::isnan(value)) {
      ++nan_count_;
    } else {
      ++(value > 0 ? positive_inf_count_ : negative_inf_count_);
    }
  }
  return finite_count;
}

void FloatSummary::add_extremes(const FloatScan& scan) {
  zero_count_ += scan.zero_count;
  min_ = std::min(min_, scan.min);
  max_ = std::max(max_, scan.max);
  abs_max_ = std::max(abs_max_, scan.abs_max);
  if (scan.abs_min > 0) abs_min_ = std::min(abs_min_, scan.abs_min);
}

void FloatSummary::add_finite(const float* values, std::size_t count, const FloatScan& scan) {
  alignas(64) float high[kFloatBlock];
  alignas(64) float low[kFloatBlock];
  add_extremes(scan);
  guess_.reset();
  float largest = scan.abs_max;
  while (largest > 0) {
    const FloatWindow window = window_below(largest, kFloatBlock);
    if (scan.abs_min >= window.floor) {
      add_sums(sum_floats(values, count, window), window);
      if (largest == scan.abs_max) guess_ = window;
      return;
    }
    largest = split_floats(values, count, window.floor, high, low);
    add_sums(sum_floats(high, count, window), window);
    values = low;
  }
}

void FloatSummary::add_sums(const FloatSums& sums, const FloatWindow& window) {
  sum_.add(sums.sum, window.unit);
  abs_sum_.add(sums.abs_sum, window.unit);
  square_sum_.add(sums.square_high_sum, window.square_high_unit);
  square_sum_.add(sums.square_low_sum, window.square_low_unit);
}

void FloatSummary::write_to(Statistics& statistics) const {
  statistics.nan_count = nan_count_;
  statistics.positive_inf_count = positive_inf_count_;
  statistics.negative_inf_count = negative_inf_count_;
  statistics.zero_count = zero_count_;
  statistics.sum = sum_.exact();
  statistics.abs_sum = abs_sum_.exact();
  statistics.square_sum = square_sum_.exact();
  if (statistics.finite_count() == 0) return;
  // Adding +0 turns -0 into it: which of the two came first must not show.
  statistics.min = static_cast<double>(min_) + 0.0;
  statistics.max = static_cast<double>(max_) + 0.0;
  statistics.abs_min = zero_count_ > 0 ? 0.0 : static_cast<double>(abs_min_);
  statistics.abs_max = static_cast<double>(abs_max_);
}

}  // namespace trainwarden
