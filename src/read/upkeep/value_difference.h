// How far two tensors are apart, element by element, or by their statistics where the elements were not kept.
#pragma once

#include <cstdint>
#include <string>

#include "trainwarden/statistics.h"
#include "trainwarden/tensor_value.h"

namespace trainwarden::upkeep {

// With both at 0 two elements are the same when their bits are. Else when |a - b| <= atol + rtol * |b|, the field's
// meaning (numpy.isclose, torch.isclose); infinities are the same as such of their sign alone.
struct Tolerance {
  double rtol = 0;
  double atol = 0;
  bool equal_nan = false;  // with a tolerance: NaN is the same as NaN

  bool exact() const { return rtol == 0 && atol == 0; }
};

struct ValueDifference {
  std::string what;             // in words, where numbers cannot say it: "dtype float32 and float16"
  std::uint64_t elements = 0;   // that were compared
  std::uint64_t differing = 0;  // of them
  std::int64_t first = -1;      // the first that differs, in row-major order
  // Over the elements that differ. Infinite where one is NaN or infinite and the other is not the same.
  double max_abs = 0;
  double max_rel = 0;         // |a - b| / |b|
  std::uint64_t max_ulp = 0;  // how many numbers of the type lie between them; 0 where it has none to count
  double a = 0;               // where max_abs is
  double b = 0;
  // Rounded numbers were compared: that they agree does not say that the tensors are the same.
  bool approximate = false;

  bool differs() const { return !what.empty() || differing > 0; }
};

// Complex elements are one element each; their distance is that of their two parts. Values of other dtypes are compared
// with a tolerance only; else the dtype is what differs.
ValueDifference compare_values(const TensorValue& a, const TensorValue& b, const Tolerance& tolerance);

ValueDifference compare_numbers(double a, double b, const Tolerance& tolerance);

// Every number that both have counts as an element. With a tolerance counts of elements must agree, and hashes,
// histograms and exact sums are not looked at. Where one of the two is approximate, they differ when they are farther
// apart than sums in float32 may be (one in a thousand of what was added), or than the tolerance; so it is said that
// the comparison is approximate.
ValueDifference compare_statistics(const Statistics& a, const Statistics& b, const Tolerance& tolerance);

}  // namespace trainwarden::upkeep
