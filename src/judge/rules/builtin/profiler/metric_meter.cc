#include "judge/rules/builtin/profiler/metric_meter.h"

#include <algorithm>
#include <cmath>

namespace trainwarden::rules {
namespace {

constexpr double kLongestPause = 30;  // seconds: what a counter did in a longer one is not known in time

}  // namespace

void MetricMeter::take(const TimeWindow& window) {
  for (const MetricSeries& series : window.series) {
    const std::pair<std::string, std::string> key(series.worker, series.metric.instance);
    auto instance = instances_.find(key);
    if (instance == instances_.end()) {
      if (instances_.size() == kMostInstances) continue;
      instance = instances_.emplace(key, MeteredInstance{}).first;
    }
    auto metered = instance->second.find(series.metric.name);
    if (metered == instance->second.end()) {
      if (instance->second.size() == kMostMetrics) continue;
      metered = instance->second.emplace(series.metric.name, MeteredMetric{}).first;
    }
    take(metered->second, series);
  }
}

void MetricMeter::take(MeteredMetric& metered, const MetricSeries& series) {
  for (const Sample& sample : series.samples) {
    if (!std::isfinite(sample.value) || sample.unix_ns <= metered.last_unix_ns) continue;
    const double passed = static_cast<double>(sample.unix_ns - metered.last_unix_ns) / 1e9;
    // A counter that fell began anew.
    if (metered.samples > 0 && passed <= kLongestPause && sample.value >= metered.last) {
      metered.rise += sample.value - metered.last;
      metered.seconds += passed;
    }
    metered.last = sample.value;
    metered.last_unix_ns = sample.unix_ns;
    metered.max = metered.samples == 0 ? sample.value : std::max(metered.max, sample.value);
    ++metered.samples;
    metered.sum += sample.value;
    metered.above_zero += sample.value > 0;
  }
}

const MeteredMetric* find_metric(const MeteredInstance& instance, std::string_view name) {
  const auto found = instance.find(name);
  return found == instance.end() ? nullptr : &found->second;
}

}  // namespace trainwarden::rules
