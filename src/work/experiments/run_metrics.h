// What a run has measured, as summaries.
#pragma once

#include <map>
#include <string>

#include "store/storage/location.h"
#include "trainwarden/status.h"
#include "work/experiments/metric_summary.h"

namespace trainwarden::experiments {

// Of each metric by its name, over all workers and instances; kMaxMetrics of them at most, and of each kMostSamples.
// Codes as Trial::open(); what cannot be read of it is left out.
inline constexpr std::size_t kMostSamples = 10'000'000;
Result<std::map<std::string, MetricSummary>> metrics_of_run(const storage::Location& run);

}  // namespace trainwarden::experiments
