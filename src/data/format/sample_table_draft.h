// SampleTableDraft: values that come tick by tick become a table of samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data/format/samples_record.h"

namespace trainwarden::format {

// One thread at a time.
class SampleTableDraft {
 public:
  // What follows is sampled at this time, later than the last tick of this table.
  void begin_tick(std::int64_t unix_ns) { ticks_.push_back(unix_ns); }
  // Of the last tick; each metric once. Numbers of metrics are counted from 0 without large gaps.
  void put(std::uint32_t metric, double value);

  bool empty() const { return ticks_.empty(); }
  // Has the metric a value at the last tick?
  bool has_value(std::uint32_t metric) const;
  // For one more tick, at which so many metrics may have their first value.
  bool has_room(std::size_t new_metrics) const;
  // All of it, and begins anew. A tick at which nothing was sampled stays in it.
  SampleTable take();

 private:
  struct Column {
    std::vector<std::uint32_t> ticks;  // at which it has a value, by number
    std::vector<double> values;
  };

  std::vector<std::int64_t> ticks_;
  std::vector<Column> columns_;  // by metric
  std::size_t used_ = 0;         // columns with a value
};

}  // namespace trainwarden::format
