// Reduction: a number kept in place of a tensor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trainwarden/export.h"

namespace trainwarden {

// Norms are entrywise: l1 = Σ|x|, l2 = √Σx². Variance and standard deviation are the population's (divided by n).
// prod = Πx. The numbers go to disk.
enum class Reduction : std::uint8_t { kMin, kMax, kMean, kStd, kVariance, kSum, kL1, kL2, kProd };
inline constexpr int kReductionCount = 9;
// The first ones, which Statistics gives; a product needs the elements.
inline constexpr int kStatisticsReductionCount = 8;
inline constexpr bool in_statistics(Reduction reduction) {
  return static_cast<int>(reduction) < kStatisticsReductionCount;
}

TRAINWARDEN_API std::string_view name(
    Reduction reduction);  // "min", "max", "mean", "std", "variance", "sum", "l1", "l2", "prod"
TRAINWARDEN_API std::optional<Reduction> parse_reduction(std::string_view name);

// One reduction of a tensor, kept by itself. `abs`: of |x|.
struct SavedReduction {
  Reduction reduction = Reduction::kMean;
  bool abs = false;
  double value = 0;
  friend bool operator==(const SavedReduction&, const SavedReduction&) = default;
};

// "mean", "abs mean": for messages.
TRAINWARDEN_API std::string describe(Reduction reduction, bool abs);

}  // namespace trainwarden
