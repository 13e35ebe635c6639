// RunMetrics: what a run measured of itself, each number as it is last: for tables of many runs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trainwarden/trial.h"

namespace trainwarden::views {

// By name; a number that comes in several modes once for each, as "loss (eval)". NaN and infinities are values.
using RunMetrics = std::vector<std::pair<std::string, double>>;

inline constexpr std::size_t kMostRunMetrics = 40;

// Losses, then other scalars, then what was found in the output; what is captured of the machine and of the steps'
// phases is left out. At most kMostRunMetrics. A number that cannot be read is left out.
RunMetrics read_run_metrics(Trial& trial);

}  // namespace trainwarden::views
