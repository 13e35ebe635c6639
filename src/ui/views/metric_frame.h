// MetricFrame: a run's printed metrics as rows of time, name and value, as SageMaker's TrainingJobAnalytics has them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/format/json.h"
#include "trainwarden/status.h"
#include "trainwarden/trial.h"

namespace trainwarden::views {

// What timestamps count from.
enum class FrameStart : std::uint8_t {
  kMetric,  // each metric's own first row
  kRun,     // the beginning of the run
  kEpoch,   // 1970
};

// "metric", "job", "none": as `metrics show --relative` has them.
std::optional<FrameStart> parse_frame_start(std::string_view text);

inline constexpr double kMostPeriodSeconds = 31 * 24 * 3600.0;

struct MetricFrameQuestion {
  // Values within so many seconds are one row with their average, and its time is the beginning of these; they begin
  // at multiples of it since 1970, as CloudWatch's do. 0: each value is a row.
  double period_seconds = 60;
  FrameStart start = FrameStart::kMetric;
};

struct MetricRow {
  double timestamp = 0;  // seconds
  std::string metric;
  double value = 0;                  // NaN and infinities as they were printed; an average with one is one
  std::optional<std::int64_t> step;  // of the last value in it
  std::string host;                  // whose output it is: "rank-00000"
  std::int64_t unix_ns = 0;
};

// Metric by metric in the order of their definitions, each by rising time. Metrics without a value have no rows.
// Errors as Trial::samples().
Result<std::vector<MetricRow>> read_metric_frame(Trial& trial, const MetricFrameQuestion& question);

// A list of {timestamp, metric_name, value}; `full`: with {step, host, time}.
format::OrderedJson frame_json(const std::vector<MetricRow>& rows, bool full);

}  // namespace trainwarden::views
