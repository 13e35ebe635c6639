// MetricFinder: the values in the records of a log, found by definitions or, without any, by the styles of libraries.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/status.h"
#include "work/log_metrics/definition.h"
#include "work/log_metrics/extractor.h"
#include "work/log_metrics/metric_reader.h"

namespace trainwarden::log_metrics {

struct FoundValue {
  std::string metric;
  double value = 0;
  std::optional<std::int64_t> step;  // that the record names
  std::string_view found_by;         // "definition", or the library's name
};

// For one thread.
class MetricFinder {
 public:
  // kInvalidArgument when a pattern does not compile.
  static Result<MetricFinder> create(std::optional<DefinitionSet> definitions);

  // In the order of the definitions, or of the record. Valid until the next call.
  const std::vector<FoundValue>& read(std::string_view record);

  // Null without definitions.
  const MetricReader* definitions() const { return reader_ ? &*reader_ : nullptr; }

 private:
  explicit MetricFinder(std::optional<MetricReader> reader) : reader_(std::move(reader)) {}

  std::optional<MetricReader> reader_;
  Extractor extractor_;
  std::vector<FoundValue> found_;
};

}  // namespace trainwarden::log_metrics
