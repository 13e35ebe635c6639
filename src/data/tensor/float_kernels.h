// The inner loops of statistics over float32, for every CPU. All results are exact, hence the same everywhere.
//
// Blocks have 1 to kFloatBlock elements, so that they stay in the nearest cache between the passes over them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trainwarden {

inline constexpr std::size_t kFloatBlock = 2048;

// What is learnt of a block without summing it.
struct FloatScan {
  bool finite = true;  // false: there are NaNs or infinities, and the rest is without meaning
  std::size_t zero_count = 0;
  float min = 0;
  float max = 0;
  float abs_max = 0;
  float abs_min = 0;  // over the elements other than zero; 0 when there are none
};

// Magnitudes that can be summed together without rounding: those in [floor, ceiling), and zero.
struct FloatWindow {
  float floor = 0;
  float ceiling = 0;
  int unit = 0;              // elements are multiples of 2^unit
  int square_high_unit = 0;  // squares are split into multiples of this
  int square_low_unit = 0;   // and multiples of this

  bool holds(const FloatScan& scan) const { return scan.finite && scan.abs_max < ceiling && scan.abs_min >= floor; }
};

// In the units of a window. Σx² is the sum of its two parts.
struct FloatSums {
  std::int64_t sum = 0;
  std::int64_t abs_sum = 0;
  std::int64_t square_high_sum = 0;
  std::int64_t square_low_sum = 0;
};

FloatScan scan_floats(const float* values, std::size_t count);

// For a block of up to `count` finite elements up to `largest` (a magnitude, not 0): the widest window below it.
FloatWindow window_below(float largest, std::size_t count);

// All elements lie in the window, which was made for at least as many.
FloatSums sum_floats(const float* values, std::size_t count, const FloatWindow& window);

// Scan and sums of a whole block (kFloatBlock elements) in one go, for a window that is a guess: the sums are right
// when it holds the scan. Fetches into the cache what follows in memory; that is not read and need not exist.
FloatScan scan_and_sum_block(const float* values, const FloatWindow& window, FloatSums& sums);

// Copies every element to `high` or to `low`, by whether its magnitude is below the floor, and zero to the other one.
// Returns the largest magnitude in `low`. `values` may be `low` itself.
float split_floats(const float* values, std::size_t count, float floor, float* high, float* low);

}  // namespace trainwarden
