#include "measure/machine/reading.h"

#include <cmath>

namespace trainwarden::machine {
namespace {

// What makes a metric the same. Names and instances may hold any bytes: the length says where the name ends.
std::string key_of(const Metric& metric) {
  return std::to_string(metric.name.size()) + ' ' + metric.name + static_cast<char>(metric.source) + metric.instance;
}

}  // namespace

std::uint32_t Reading::id_of(const Metric& metric) {
  std::string key = key_of(metric);
  if (const auto found = ids_.find(key); found != ids_.end()) return found->second;
  if (metrics_.size() >= kMaxMetrics) {
    ++refused_metrics_;
    return kNoMetric;
  }
  const auto id = static_cast<std::uint32_t>(metrics_.size());
  ids_.emplace(std::move(key), id);
  metrics_.push_back(metric);
  places_.emplace_back();
  return id;
}

void Reading::set(std::uint32_t id, double value) {
  if (id >= metrics_.size() || !std::isfinite(value)) return;
  Place& place = places_[id];
  if (place.tick == tick_) {
    values_[place.index].value = value;
    return;
  }
  place = {tick_, values_.size()};
  values_.push_back({id, value});
}

void Reading::begin_tick() {
  values_.clear();
  ++tick_;
}

}  // namespace trainwarden::machine
