// What metric definitions, or the styles of libraries, find in a log: for people and for programs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/status.h"
#include "ui/cli/terminal/json_out.h"
#include "work/log_metrics/definition.h"
#include "work/log_metrics/lint.h"
#include "work/log_metrics/metric_finder.h"
#include "work/log_metrics/record_splitter.h"

namespace trainwarden::cli {

// Reads a log of any length in little memory: of its values it keeps the first `max_values`, of each metric a summary.
class MetricTrial {
 public:
  // Without definitions the styles of libraries are searched for (work/log_metrics/extractor.h).
  static Result<MetricTrial> create(std::optional<log_metrics::DefinitionSet> definitions, std::size_t max_values);

  void append(std::string_view bytes);
  void finish();

  // Every definition has found a value; without definitions: anything was found.
  bool found_all() const;

  std::string to_text() const;
  OrderedJson to_json() const;

 private:
  struct Value {
    std::uint64_t line;
    std::string metric;
    double value;
    std::optional<std::int64_t> step;
    std::string record;  // its beginning
  };
  struct Summary {
    std::string found_by;  // "definition", or a library
    std::uint64_t count = 0;
    std::uint64_t not_finite = 0;
    double first = 0;
    double last = 0;
    double min = 0;  // of the finite ones
    double max = 0;
  };

  MetricTrial(log_metrics::MetricFinder finder, std::size_t max_values);
  log_metrics::RecordSplitter::Sink sink();
  void take_record(const log_metrics::LogRecord& record);
  void take_value(const log_metrics::LogRecord& record, const std::string& metric, const std::string& found_by,
                  double value, std::optional<std::int64_t> step);
  std::string values_text() const;
  std::string metrics_text() const;
  std::string troubles_text() const;
  std::vector<std::string> metrics() const;  // in the order of the definitions, or of the log

  log_metrics::MetricFinder finder_;
  log_metrics::RecordSplitter splitter_;
  std::size_t max_values_;
  std::vector<Value> values_;
  std::uint64_t count_ = 0;
  std::uint64_t records_ = 0;
  std::uint64_t cut_records_ = 0;
  std::uint64_t lost_metrics_ = 0;  // values of metrics over the limit of names
  std::map<std::string, Summary> summaries_;
  std::vector<std::string> order_;  // of the names in summaries_
};

std::string lint_text(const std::vector<log_metrics::LintWarning>& warnings);
OrderedJson warning_json(const log_metrics::LintWarning& warning);

}  // namespace trainwarden::cli
