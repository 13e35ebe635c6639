// Reading: the metrics that there are, each with a number, and their values at one tick.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "trainwarden/metric.h"

namespace trainwarden::machine {

// One thread at a time.
class Reading {
 public:
  static constexpr std::size_t kMaxMetrics = 16384;
  static constexpr std::uint32_t kNoMetric = std::numeric_limits<std::uint32_t>::max();

  struct Value {
    std::uint32_t metric;
    double value;
  };

  // The same number for the same metric (name, source and instance); a new one gets the next. kNoMetric, and counted,
  // when there are kMaxMetrics already.
  std::uint32_t id_of(const Metric& metric);
  // For this tick; again: in place of the value before. A number that is not set is missing, never 0. What is not
  // finite, and kNoMetric, is left out.
  void set(std::uint32_t id, double value);
  // By number.
  const std::vector<Metric>& metrics() const { return metrics_; }
  // Of this tick, in the order in which they were set first.
  std::span<const Value> values() const { return values_; }
  // Forgets the values, not the metrics.
  void begin_tick();
  std::uint64_t refused_metrics() const { return refused_metrics_; }

 private:
  struct Place {
    std::uint64_t tick = 0;
    std::size_t index = 0;
  };

  std::vector<Metric> metrics_;
  std::vector<Place> places_;  // of each metric's value: in values_ when it has the present tick
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::vector<Value> values_;
  std::uint64_t tick_ = 1;
  std::uint64_t refused_metrics_ = 0;
};

}  // namespace trainwarden::machine
