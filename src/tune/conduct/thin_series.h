// Which steps of a trial are kept: so many that curves can be compared, and not each of millions.
#pragma once

#include <string>
#include <vector>

#include "tune/search/history.h"

namespace trainwarden::tune {

// Of the values behind the last one that was kept (step -1: none was) those that lie a hundredth of its step apart or
// more; with `is_over` also the last.
std::vector<Intermediate> values_to_keep(const std::vector<Intermediate>& series, std::int64_t last_kept, bool is_over);

}  // namespace trainwarden::tune
