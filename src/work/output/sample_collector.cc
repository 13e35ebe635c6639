#include "work/output/sample_collector.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

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
  if (!draft_.has_room(2)) flush();
  if (!in_record_ || draft_.has_value(metric->id)) make_tick();
  draft_.put(metric->id, value);
  if (!step) return;
  if (!metric->has_steps)
    new_metrics_.push_back({metric->id + 1, format::step_metric({std::string(name), "", MetricKind::kGauge,
                                                                 MetricSource::kRank, instance_})});
  metric->has_steps = true;
  draft_.put(metric->id + 1, static_cast<double>(*step));
}

void SampleCollector::flush() {
  if (draft_.empty()) return;
  journal::SampleBatch batch;
  batch.tables.push_back(draft_.take());
  batch.new_metrics = std::exchange(new_metrics_, {});
  in_record_ = false;
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
  draft_.begin_tick(last_tick_);
  in_record_ = true;
}

}  // namespace trainwarden::output
