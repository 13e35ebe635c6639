// Names: which ids stand for which tensors and metrics. Written once in a segment, before an id is first used.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/metric.h"
#include "trainwarden/status.h"

namespace trainwarden::format {

struct NameEntry {
  std::uint32_t id = 0;
  std::string name;                      // any bytes
  std::vector<std::string> collections;  // that the tensor belongs to
  friend bool operator==(const NameEntry&, const NameEntry&) = default;
};

// Metrics have ids of their own.
struct MetricEntry {
  std::uint32_t id = 0;
  Metric metric;
  friend bool operator==(const MetricEntry&, const MetricEntry&) = default;
};

struct Names {
  std::vector<NameEntry> tensors;
  std::vector<MetricEntry> metrics;
  friend bool operator==(const Names&, const Names&) = default;
};

std::string encode_names(std::span<const NameEntry> tensors, std::span<const MetricEntry> metrics = {});
// A kind or source of metrics that is not known here becomes kUnknown.
Result<Names> decode_names(std::string_view json);

}  // namespace trainwarden::format
