// What is computed from exact sums, each number rounded once.
#pragma once

#include <cstdint>

#include "data/tensor/limbs.h"
#include "trainwarden/statistics.h"

namespace trainwarden {

// ± Σ limbs[i]·2^(64·(i + lowest_limb)), in the form that equal sums share: no zero limbs at either end.
ExactSum make_exact_sum(bool negative, std::int32_t lowest_limb, Limbs limbs);

// sum / count. `count` is not 0 here and below.
double exact_mean(const ExactSum& sum, std::uint64_t count);
// (count·Σx² − (Σx)²) / count², whose numerator is exact, so nothing cancels.
double exact_variance(const ExactSum& sum, const ExactSum& square_sum, std::uint64_t count);
double exact_deviation(const ExactSum& sum, const ExactSum& square_sum, std::uint64_t count);  // its square root
double exact_square_root(const ExactSum& sum);  // of a sum that is not negative

}  // namespace trainwarden
