// MetricMeter: what metrics of one instance did over all windows of time that a rule was shown, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "trainwarden/rule.h"

namespace trainwarden::rules {

// Of one metric.
struct MeteredMetric {
  std::int64_t last_unix_ns = 0;
  double last = 0;
  double rise = 0;     // of a counter, also over what lies between two windows
  double seconds = 0;  // over which it rose
  std::size_t samples = 0;
  double sum = 0;
  double max = 0;
  std::size_t above_zero = 0;  // samples
  double mean() const { return samples == 0 ? 0 : sum / static_cast<double>(samples); }
};

// Metrics of one worker and instance, by name. A value that was not sampled is not there.
using MeteredInstance = std::map<std::string, MeteredMetric, std::less<>>;

class MetricMeter {
 public:
  static constexpr std::size_t kMostInstances = 1024;
  static constexpr std::size_t kMostMetrics = 64;  // of each

  void take(const TimeWindow& window);
  // By worker and instance.
  const std::map<std::pair<std::string, std::string>, MeteredInstance>& instances() const { return instances_; }

 private:
  static void take(MeteredMetric& metered, const MetricSeries& series);
  std::map<std::pair<std::string, std::string>, MeteredInstance> instances_;
};

const MeteredMetric* find_metric(const MeteredInstance& instance, std::string_view name);

}  // namespace trainwarden::rules
