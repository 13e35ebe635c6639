// Step metrics: a value that a program prints with a step is a sample of its metric, and the step one of a second
// metric, at the same tick.
#pragma once

#include <string_view>

#include "trainwarden/metric.h"

namespace trainwarden::format {

inline constexpr std::string_view kStepInstance = ".step";

// Of "loss" of rank "0": the same of rank "0.step".
inline Metric step_metric(const Metric& metric) {
  return {metric.name, "step", MetricKind::kGauge, metric.source, metric.instance + std::string(kStepInstance)};
}
inline bool is_step_metric(const Metric& metric) {
  return metric.source == MetricSource::kRank && metric.unit == "step" && metric.instance.ends_with(kStepInstance);
}

}  // namespace trainwarden::format
