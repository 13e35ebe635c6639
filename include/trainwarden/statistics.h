// One-pass statistics of a tensor, exact and mergeable; or those that were computed elsewhere, marked as approximate.
//
// Sums are exact: Σx, Σ|x| and Σx² are kept as wide integers without any rounding, so the result has the same bits
// whatever the CPU, the number of threads, the order of the elements' parts or the way in which a tensor was sharded,
// and merge() of parts equals the statistics of the whole. Rounding to double happens once, when a number is read.
// Complex tensors are taken as twice as many real numbers (real, imaginary): l2 is then the norm of the complex
// tensor, and counts are counts of components. kBool counts as 0 and 1.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "trainwarden/export.h"
#include "trainwarden/reduction.h"
#include "trainwarden/status.h"
#include "trainwarden/tensor_view.h"

namespace trainwarden {

// A sum without rounding: sign × Σ limbs[i] × 2^(64·(i + lowest_limb)), trimmed of zero limbs at both ends.
// Zero has no limbs. Equal sums have equal representations.
struct TRAINWARDEN_API ExactSum {
  bool negative = false;
  std::int32_t lowest_limb = 0;
  std::vector<std::uint64_t> limbs;

  double to_double() const;  // correctly rounded (nearest, ties to even); ±infinity past the range
  void add(const ExactSum& other);
  friend bool operator==(const ExactSum&, const ExactSum&) = default;
};

// Counts of elements by sign, exponent and the two top bits of the mantissa of their value as float32: four bins an
// octave over the whole range, no limits to choose, so histograms of any tensors merge. Bin b = top 11 bits of the
// float32 pattern; b < 1024 are positive, +0 in bin 0 and -0 in bin 1024. float64 and wide integers are rounded to
// float32 first, finite ones past its range to the largest finite float32. NaN and infinities are not counted. Source
// of the idea: HDR histograms.
struct TRAINWARDEN_API Histogram {
  static constexpr int kBinCount = 2048;
  struct Bin {
    std::uint16_t index = 0;
    std::uint64_t count = 0;
    friend bool operator==(const Bin&, const Bin&) = default;
  };
  std::vector<Bin> bins;  // only those with a count, by rising index

  // The values of bin b lie in [lower_edge(b), upper_edge(b)) by magnitude; negative bins have negative edges.
  static double lower_edge(int bin);
  static double upper_edge(int bin);
  void merge(const Histogram& other);
  friend bool operator==(const Histogram&, const Histogram&) = default;
};

// What to compute besides the core.
struct StatisticsOptions {
  bool histogram = false;
  bool hash = false;
  int threads = 1;  // the result does not depend on it
};

struct TRAINWARDEN_API Statistics {
  std::uint64_t count = 0;  // all elements, also NaN and infinite ones
  std::uint64_t nan_count = 0;
  std::uint64_t positive_inf_count = 0;
  std::uint64_t negative_inf_count = 0;
  std::uint64_t zero_count = 0;

  // Over the finite elements; NaN when there are none.
  double min = std::numeric_limits<double>::quiet_NaN();
  double max = std::numeric_limits<double>::quiet_NaN();
  double abs_min = std::numeric_limits<double>::quiet_NaN();
  double abs_max = std::numeric_limits<double>::quiet_NaN();
  ExactSum sum;         // Σx
  ExactSum abs_sum;     // Σ|x|
  ExactSum square_sum;  // Σx²

  bool has_histogram = false;
  Histogram histogram;
  bool has_hash = false;
  std::uint64_t hash = 0;  // of the components' bits in row-major order; the formula is in docs/format/records.md

  // Computed elsewhere, in floating point (given_statistics.h): sums are rounded, and a sum that was infinite there is
  // farther than a double can tell.
  bool approximate = false;

  std::uint64_t inf_count() const { return positive_inf_count + negative_inf_count; }
  std::uint64_t finite_count() const { return count - nan_count - inf_count(); }

  // Over the finite elements; NaN when there are none.
  double mean() const;
  double abs_mean() const;
  double variance() const;      // population
  double abs_variance() const;  // of |x|
  double deviation() const;     // the square root of the variance, and so below
  double abs_deviation() const;
  double l1() const;
  double l2() const;

  // The reduction as IEEE arithmetic over all elements would give it, so NaN and infinities show: NaN when any
  // element is NaN. `abs` takes |x| first. NaN for an empty tensor, except sum, l1 and l2, which are 0. Always NaN for
  // prod, which statistics do not hold: see in_statistics().
  double reduction(Reduction reduction, bool abs = false) const;

  // Appends the statistics of the elements that follow. Associative; commutative too but for `hash`. A default
  // Statistics is neutral. A histogram or hash is there afterwards when all parts with elements have one. What is
  // merged with something approximate is that, too.
  void merge(const Statistics& next);

  friend TRAINWARDEN_API bool operator==(const Statistics& a, const Statistics& b);  // bit for bit, NaN equal to NaN
};

// One pass over the elements. kInvalidArgument for kString, kFailedPrecondition when the device is not host readable.
// Never throws; runs with its own floating-point environment and restores the caller's.
TRAINWARDEN_API Result<Statistics> compute_statistics(const TensorView& view, const StatisticsOptions& options = {});

}  // namespace trainwarden
