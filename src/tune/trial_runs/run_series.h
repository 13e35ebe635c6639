// The values that a metric has had in a run: a scalar that the hook has saved, or a metric that the program printed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/trial.h"
#include "tune/search/history.h"

namespace trainwarden::tune {

inline constexpr std::size_t kMaxRunSeries = 1'000'000;  // values that are read of one metric: the first

// Of the tensor with this name that was saved as a scalar, by global step; else of the printed metric with this name,
// by the steps that were printed beside it, or its number where none was; of several values at a step the last. Empty
// where the run has neither.
std::vector<Intermediate> series_of_run(Trial& trial, std::string_view metric);

// Names that series_of_run() would know, for messages: at most `most`.
std::vector<std::string> metric_names_of_run(Trial& trial, std::size_t most);

}  // namespace trainwarden::tune
