// Wilcoxon's signed-rank test.
#pragma once

#include <vector>

namespace trainwarden::tune {

// One-sided: the probability that differences as these, or more of them above 0, come by chance when they lie evenly
// around 0. Without NaN. Equal sizes share their ranks; a difference of 0 counts half for each side ("zsplit"). Exact
// below kMinApproximated differences, also with ties; from there by the normal approximation with a correction for
// continuity. 1 where all are 0 or there are none.
double signed_rank_p(const std::vector<double>& differences);

inline constexpr std::size_t kMinApproximated = 20;

}  // namespace trainwarden::tune
