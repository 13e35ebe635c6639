// The columns of a statistics record by name, for its encoder and its decoder; docs/format/records.md in code.
#pragma once

#include <array>
#include <cstdint>

#include "trainwarden/statistics.h"

namespace trainwarden::format::statistics_layout {

// One row for each tensor.
inline constexpr const char* kTensor = "tensor";
inline constexpr const char* kDType = "dtype";
inline constexpr const char* kFlags = "flags";
inline constexpr const char* kRank = "rank";
inline constexpr const char* kHash = "hash";
inline constexpr const char* kApproximate = "approximate";  // not there when it is 0 in every row
inline constexpr const char* kBinCount = "histogram_bins";  // how many rows of the two histogram columns are its own

// Bits of kFlags. The last two only together with the first.
inline constexpr std::uint8_t kHasStatistics = 1;
inline constexpr std::uint8_t kHasHistogram = 2;
inline constexpr std::uint8_t kHasHash = 4;

inline constexpr bool known_flags(std::uint8_t flags) {
  constexpr std::uint8_t kAll = kHasStatistics | kHasHistogram | kHasHash;
  return (flags & ~kAll) == 0 && (flags == 0 || (flags & kHasStatistics) != 0);
}

struct CountColumn {
  const char* name;
  std::uint64_t Statistics::*field;
};
inline constexpr std::array kCounts = {
    CountColumn{"count", &Statistics::count},
    CountColumn{"nan_count", &Statistics::nan_count},
    CountColumn{"positive_inf_count", &Statistics::positive_inf_count},
    CountColumn{"negative_inf_count", &Statistics::negative_inf_count},
    CountColumn{"zero_count", &Statistics::zero_count},
};

struct LimitColumn {
  const char* name;
  double Statistics::*field;
};
inline constexpr std::array kLimits = {
    LimitColumn{"min", &Statistics::min},
    LimitColumn{"max", &Statistics::max},
    LimitColumn{"abs_min", &Statistics::abs_min},
    LimitColumn{"abs_max", &Statistics::abs_max},
};

// Rounded, for readers without wide integers. Ours reads the exact sums and computes these again.
struct RoundedColumn {
  const char* name;
  double (*compute)(const Statistics&);
};
inline constexpr std::array kRounded = {
    RoundedColumn{"sum", [](const Statistics& statistics) { return statistics.sum.to_double(); }},
    RoundedColumn{"mean", [](const Statistics& statistics) { return statistics.mean(); }},
    RoundedColumn{"variance", [](const Statistics& statistics) { return statistics.variance(); }},
    RoundedColumn{"l1", [](const Statistics& statistics) { return statistics.l1(); }},
    RoundedColumn{"l2", [](const Statistics& statistics) { return statistics.l2(); }},
    RoundedColumn{"abs_variance", [](const Statistics& statistics) { return statistics.abs_variance(); }},
};

// Three rows for each tensor: one for each of these sums, in this order.
inline constexpr std::array kSums = {&Statistics::sum, &Statistics::abs_sum, &Statistics::square_sum};
inline constexpr const char* kSumNegative = "exact_negative";
inline constexpr const char* kSumLowestLimb = "exact_lowest_limb";
inline constexpr const char* kSumLimbCount = "exact_limb_count";

// As many rows for each tensor as its rank, its limbs and its histogram bins come to.
inline constexpr const char* kSizes = "shape";
inline constexpr const char* kLimbs = "exact_limbs";
inline constexpr const char* kBinIndex = "histogram_index";
inline constexpr const char* kBinValue = "histogram_count";

}  // namespace trainwarden::format::statistics_layout
