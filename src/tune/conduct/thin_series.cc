#include "tune/conduct/thin_series.h"

namespace trainwarden::tune {

std::vector<Intermediate> values_to_keep(const std::vector<Intermediate>& series, std::int64_t last_kept,
                                         bool is_over) {
  constexpr std::int64_t kParts = 100;
  std::vector<Intermediate> kept;
  for (const Intermediate& value : series) {
    const bool is_last = is_over && value.step == series.back().step;
    if (value.step <= last_kept || (!is_last && value.step < last_kept + last_kept / kParts)) continue;
    kept.push_back(value);
    last_kept = value.step;
  }
  return kept;
}

}  // namespace trainwarden::tune
