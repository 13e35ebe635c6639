// Whole numbers of any length: what is read off exact sums is computed with them and rounded once.
#pragma once

#include <cstdint>
#include <vector>

#include "data/tensor/wide_integer.h"

namespace trainwarden {

// Σ limbs[i]·2^(64·i). Zero limbs at the upper end are allowed.
using Limbs = std::vector<std::uint64_t>;

int compare(const Limbs& a, const Limbs& b);  // below, equal to or above 0, as a is to b
Limbs add(const Limbs& a, const Limbs& b);
Limbs subtract(const Limbs& larger, const Limbs& smaller);
Limbs multiply(const Limbs& a, const Limbs& b);
std::uint64_t divide(Limbs& dividend, std::uint64_t divisor);  // in place; returns the remainder

// (limbs + something in (0, 1) when `truncated`) × 2^lowest_bit: a number that is not negative.
struct Magnitude {
  Limbs limbs;
  std::int64_t lowest_bit = 0;
  bool truncated = false;
};

// `number`, not truncated, divided by divisor^times. Enough bits are kept for to_double and square_root.
Magnitude quotient(Magnitude number, std::uint64_t divisor, int times);

// Correctly rounded: to nearest, ties to even, with denormals, infinity past the range. They use whole numbers only, so
// that the caller's floating-point modes have no say. To double at least 54 leading bits must be there, to the root
// 107.
double to_double(const Magnitude& number);
double square_root(const Magnitude& number);

}  // namespace trainwarden
