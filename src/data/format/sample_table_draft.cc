#include "data/format/sample_table_draft.h"

#include <utility>

namespace trainwarden::format {

void SampleTableDraft::put(std::uint32_t metric, double value) {
  if (metric >= columns_.size()) columns_.resize(metric + 1);
  Column& column = columns_[metric];
  if (column.ticks.empty()) ++used_;
  column.ticks.push_back(static_cast<std::uint32_t>(ticks_.size() - 1));
  column.values.push_back(value);
}

bool SampleTableDraft::has_value(std::uint32_t metric) const {
  if (metric >= columns_.size() || columns_[metric].ticks.empty()) return false;
  return columns_[metric].ticks.back() + 1 == ticks_.size();
}

bool SampleTableDraft::has_room(std::size_t new_metrics) const {
  return (used_ + new_metrics) * (ticks_.size() + 1) <= kMaxSamplesInFrame;
}

SampleTable SampleTableDraft::take() {
  SampleTable table;
  table.ticks = std::exchange(ticks_, {});
  for (std::size_t metric = 0; metric < columns_.size(); ++metric) {
    Column& column = columns_[metric];
    if (column.ticks.empty()) continue;
    SampleSeries series;
    series.metric = static_cast<std::uint32_t>(metric);
    series.values = std::exchange(column.values, {});
    if (column.ticks.size() < table.ticks.size()) {
      series.present.resize(table.ticks.size());
      for (const std::uint32_t tick : column.ticks) series.present[tick] = true;
    }
    column.ticks.clear();
    table.series.push_back(std::move(series));
  }
  used_ = 0;
  return table;
}

}  // namespace trainwarden::format
