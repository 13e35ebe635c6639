#include "read/transfer/statistics_fields.h"

namespace trainwarden::transfer {

std::array<StatisticsCount, 5> counts_of(const Statistics& statistics) {
  return {{{"count", statistics.count},
           {"nan_count", statistics.nan_count},
           {"positive_infinity_count", statistics.positive_inf_count},
           {"negative_infinity_count", statistics.negative_inf_count},
           {"zero_count", statistics.zero_count}}};
}

std::vector<SavedReduction> reductions_of(const Statistics& statistics) {
  std::vector<SavedReduction> reductions;
  for (int i = 0; i < kStatisticsReductionCount; ++i) {
    const auto reduction = static_cast<Reduction>(i);
    for (const bool abs : {false, true}) {
      reductions.push_back({reduction, abs, statistics.reduction(reduction, abs)});
    }
  }
  return reductions;
}

std::string field_name(Reduction reduction, bool abs) {
  return (abs ? "abs_" : "") + std::string(name(reduction));
}

}  // namespace trainwarden::transfer
