// Kendall's rank correlation.
#pragma once

#include <utility>
#include <vector>

namespace trainwarden::tune {

// Tau-b of pairs without NaN, in [-1, 1]; ties are taken into account. By Knight (1966), O(n log n). NaN where all
// first or all second values are equal.
double kendall_tau_b(std::vector<std::pair<double, double>> pairs);

}  // namespace trainwarden::tune
