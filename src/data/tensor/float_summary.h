// FloatSummary: what is gathered about the float32 components of a tensor, block by block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "data/tensor/float_kernels.h"
#include "data/tensor/wide_sum.h"
#include "trainwarden/statistics.h"

namespace trainwarden {

// One thread at a time.
class FloatSummary {
 public:
  // At most kFloatBlock values.
  void add(const float* values, std::size_t count);
  // Everything but the number of elements, the histogram and the hash.
  void write_to(Statistics& statistics) const;

 private:
  // Copies the finite values to `finite`, counts the others and returns how many there are of the former.
  std::size_t pick_finite(const float* values, std::size_t count, float* finite);
  void add_extremes(const FloatScan& scan);
  void add_finite(const float* values, std::size_t count, const FloatScan& scan);
  void add_sums(const FloatSums& sums, const FloatWindow& window);

  // The window of the block before: likely to hold the next one, too, which is then scanned and summed in one go.
  std::optional<FloatWindow> guess_;
  std::uint64_t nan_count_ = 0;
  std::uint64_t positive_inf_count_ = 0;
  std::uint64_t negative_inf_count_ = 0;
  std::uint64_t zero_count_ = 0;
  float min_ = std::numeric_limits<float>::infinity();
  float max_ = -std::numeric_limits<float>::infinity();
  float abs_min_ = std::numeric_limits<float>::infinity();
  float abs_max_ = 0;
  FloatSum sum_;
  FloatSum abs_sum_;
  FloatSum square_sum_;
};

}  // namespace trainwarden
