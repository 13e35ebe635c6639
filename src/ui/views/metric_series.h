// Metric series: a printed metric as a series, beside those of tensors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/metric.h"
#include "trainwarden/status.h"
#include "ui/views/series.h"
#include "ui/views/shelf.h"

namespace trainwarden::views {

// What can be asked for, in the order of printed_metrics().
struct MetricChoice {
  std::string id;    // 16 hexadecimal digits; no tensor's
  std::string name;  // of several workers' outputs with whose it is: "loss (output-1)"
  SampledMetric metric;
};
std::vector<MetricChoice> metric_choices(const Trial& trial);

// A later value of the same step replaces the earlier one, as with tensors. Where one value or more came without a
// step, all are counted instead: 1, 2, ... in the order of time (Series::counted). Of the question the stretch and the
// buckets count; what was read is remembered with the run. kNotFound when no printed metric has this id.
Result<Series> read_metric_series(const OpenRun::Use& run, std::string_view id, const SeriesQuestion& question);

}  // namespace trainwarden::views
