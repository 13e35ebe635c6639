#include "work/output/sample_collector.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "data/format/samples_record.h"
#include "data/format/step_metric.h"

namespace trainwarden::output {
namespace {

// All NaN are the same here.
std::uint64_t bits_of(double value) {
  return std::bit_cast<std::uint64_t>(std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value);
}

}  // namespace

SampleCollector::SampleCollector(std::string instance, Sink sink)
    : instance_(std::move(instance)), sink_(std::move(sink)) {}

void SampleCollector::begin_record(std::int64_t unix_ns) {
  now_ns_ = unix_ns;
  in_record_ = false;
}

void SampleCollector::add(std::string_view name, double value, std::optional<std::int64_t> step) {
  Collected* const metric = find_or_name(name);
  if (metric == nullptr) {
    ++lost_values_;
    return;
  }
  if (is_duplicate(*metric, value, now_ns_)) return;
  if (!has_room()) flush();
  const bool sampled_here =
      in_record_ && !metric->samples.ticks.empty() && metric->samples.ticks.back() + 1 == ticks_.size();
  if (!in_record_ || sampled_here) make_tick();
  put(metric->samples, value);
  if (!step) return;
  if (!metric->has_steps)
    new_metrics_.push_back({metric->id + 1, format::step_metric({std::string(name), "", MetricKind::kGauge,
                                                                 MetricSource::kRank, instance_})});
  metric->has_steps = true;
  put(metric->steps, static_cast<double>(*step));
}

void SampleCollector::flush() {
  if (ticks_.empty()) return;
  journal::SampleBatch batch;
  batch.tables.push_back(take_table());
  batch.new_metrics = std::exchange(new_metrics_, {});
  sink_(batch);
}

std::uint64_t SampleCollector::duplicates_of(std::string_view metric) const {
  const auto known = metrics_.find(metric);
  return known == metrics_.end() ? 0 : known->second.duplicates;
}

SampleCollector::Collected* SampleCollector::find_or_name(std::string_view name) {
  const auto known = metrics_.find(name);
  if (known != metrics_.end()) return &known->second;
  if (metrics_.size() >= kMaxOutputMetrics) return nullptr;
  Collected metric;
  metric.id = static_cast<std::uint32_t>(2 * metrics_.size());
  new_metrics_.push_back({metric.id, {std::string(name), "", MetricKind::kGauge, MetricSource::kRank, instance_}});
  return &metrics_.emplace(name, std::move(metric)).first->second;
}

bool SampleCollector::is_duplicate(Collected& metric, double value, std::int64_t unix_ns) {
  const std::uint64_t bits = bits_of(value);
  if (metric.last_bits == bits && unix_ns - metric.last_unix_ns < kDuplicateNs) {
    ++metric.duplicates;
    return true;
  }
  metric.last_bits = bits;
  metric.last_unix_ns = unix_ns;
  return false;
}

void SampleCollector::make_tick() {
  last_tick_ = std::max(now_ns_, last_tick_ + 1);
  ticks_.push_back(last_tick_);
  in_record_ = true;
}

void SampleCollector::put(Column& column, double value) {
  if (column.ticks.empty()) ++columns_;
  column.ticks.push_back(static_cast<std::uint32_t>(ticks_.size() - 1));
  column.values.push_back(value);
}

// For one more tick, and for a metric and its steps.
bool SampleCollector::has_room() const {
  return (columns_ + 2) * (ticks_.size() + 1) <= format::kMaxSamplesInFrame;
}

journal::SampleTable SampleCollector::take_table() {
  journal::SampleTable table;
  table.ticks = std::exchange(ticks_, {});
  for (auto& [name, metric] : metrics_) {
    add_series(table, metric.id, metric.samples);
    add_series(table, metric.id + 1, metric.steps);
  }
  columns_ = 0;
  in_record_ = false;
  return table;
}

void SampleCollector::add_series(journal::SampleTable& table, std::uint32_t id, Column& column) {
  if (column.ticks.empty()) return;
  journal::SampleSeries series;
  series.metric = id;
  series.values = std::exchange(column.values, {});
  if (column.ticks.size() < table.ticks.size()) {
    series.present.resize(table.ticks.size());
    for (const std::uint32_t tick : column.ticks) series.present[tick] = true;
  }
  column.ticks.clear();
  table.series.push_back(std::move(series));
}

}  // namespace trainwarden::output
