// What the formats write of statistics, by name.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainwarden/statistics.h"

namespace trainwarden::transfer {

using StatisticsCount = std::pair<std::string_view, std::uint64_t>;

// "count", "nan_count", "positive_infinity_count", "negative_infinity_count", "zero_count".
std::array<StatisticsCount, 5> counts_of(const Statistics& statistics);

// All 8 x 2 reductions, as IEEE arithmetic over all elements gives them: min, abs min, max, abs max, ...
std::vector<SavedReduction> reductions_of(const Statistics& statistics);

// "mean", "abs_mean": as files name it.
std::string field_name(Reduction reduction, bool abs);

}  // namespace trainwarden::transfer
