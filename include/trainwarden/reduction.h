// Reduction: a number kept in place of a tensor.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "trainwarden/export.h"

namespace trainwarden {

// Norms are entrywise: l1 = Σ|x|, l2 = √Σx². Variance and standard deviation are the population's (divided by n).
enum class Reduction : std::uint8_t { kMin, kMax, kMean, kStd, kVariance, kSum, kL1, kL2 };
inline constexpr int kReductionCount = 8;

TRAINWARDEN_API std::string_view name(
    Reduction reduction);  // "min", "max", "mean", "std", "variance", "sum", "l1", "l2"
TRAINWARDEN_API std::optional<Reduction> parse_reduction(std::string_view name);

}  // namespace trainwarden
