// Statistics that the program has computed itself, where the elements are: in a compiled graph, on an accelerator.
#pragma once

#include <cstdint>

#include "trainwarden/dtype.h"
#include "trainwarden/export.h"
#include "trainwarden/statistics.h"
#include "trainwarden/status.h"
#include "trainwarden/tensor_view.h"

namespace trainwarden {

// Counts are of components, as in Statistics; numbers are over the finite ones, and not looked at where there are none.
struct GivenStatistics {
  DType dtype = DType::kFloat32;  // of the tensor
  Shape shape;
  std::uint64_t nan_count = 0;
  std::uint64_t positive_inf_count = 0;
  std::uint64_t negative_inf_count = 0;
  std::uint64_t zero_count = 0;
  double min = 0;
  double max = 0;
  double abs_min = 0;
  // Infinite where the type in which they were added did not hold them.
  double sum = 0;
  double abs_sum = 0;
  double square_sum = 0;
};

// The same as Statistics, which are approximate. kInvalidArgument when the numbers cannot be of one tensor: counts of
// more than its elements, min above max, a negative sum of squares, NaN.
TRAINWARDEN_API Result<Statistics> approximate_statistics(const GivenStatistics& given);

}  // namespace trainwarden
