// The inner loops of statistics over float32, for every CPU. All results are exact, hence the same everywhere.
//
// Blocks have 1 to kFloatBlock elements, so that they stay in the nearest cache between the passes over them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trainwarden {

inline constexpr std::size_t kFloatBlock = 2048;

struct FloatScan {
  bool finite = true;  // false: there are NaNs or infinities, and the rest is without meaning
  std::size_t zero_count = 0;
  float min = 0;
  float max = 0;
  float abs_max = 0;
  float abs_min = 0;  // over the elements other than zero; 0 when there are none
};
FloatScan scan_floats(const float* values, std::size_t count);

// Magnitudes that can be summed together without rounding: those in [floor, the largest], and zero.
struct FloatWindow {
  float floor = 0;
  int unit = 0;              // elements are multiples of 2^unit
  int square_high_unit = 0;  // squares are split into multiples of this
  int square_low_unit = 0;   // and multiples of this
};
// For a block of `count` finite elements up to `largest` (a magnitude, not 0): the widest window below it.
FloatWindow window_below(float largest, std::size_t count);

// Copies every element to `high` or to `low`, by whether its magnitude is below the floor, and zero to the other one.
// Returns the largest magnitude in `low`. `values` may be `low` itself.
float split_floats(const float* values, std::size_t count, float floor, float* high, float* low);

// In the units of the window. Σx² is the sum of its two parts.
struct FloatSums {
  std::int64_t sum = 0;
  std::int64_t abs_sum = 0;
  std::int64_t square_high_sum = 0;
  std::int64_t square_low_sum = 0;
};
// All elements lie in the window, which was made for as many. Fetches `count` elements from `ahead` into the cache
// meanwhile; they are not read and need not exist.
FloatSums sum_floats(const float* values, std::size_t count, const FloatWindow& window, const float* ahead);

}  // namespace trainwarden
