#include "data/format/output_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/secret_mask.h"
#include "data/format/json.h"

namespace trainwarden::format {
namespace {

constexpr const char* kReportType = "output_read";

Result<OutputMetricCount> decode_metric_count(const Json& json) {
  if (!json.is_object()) return Status(Code::kDataLoss, "output report: field \"metrics\": a metric is no object");
  OutputMetricCount metric;
  TRAINWARDEN_ASSIGN_OR_RETURN(metric.name, string_field(json, "name"));
  TRAINWARDEN_ASSIGN_OR_RETURN(metric.values, uint_field(json, "values"));
  TRAINWARDEN_ASSIGN_OR_RETURN(metric.duplicates, uint_field(json, "duplicates"));
  TRAINWARDEN_ASSIGN_OR_RETURN(metric.parse_errors, uint_field(json, "parse_errors"));
  TRAINWARDEN_ASSIGN_OR_RETURN(metric.first_unreadable, string_field(json, "first_unreadable"));
  TRAINWARDEN_ASSIGN_OR_RETURN(metric.given_up, uint_field(json, "given_up"));
  return metric;
}

Result<std::vector<OutputMetricCount>> decode_metric_counts(const Json& report) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* const list, array_field(report, "metrics"));
  if (list->size() > kMaxReportedMetrics) {
    return Status(Code::kDataLoss, fmt::format("output report: field \"metrics\": {} of them, expected {} at most",
                                               list->size(), kMaxReportedMetrics));
  }
  std::vector<OutputMetricCount> metrics;
  for (const Json& item : *list) {
    TRAINWARDEN_ASSIGN_OR_RETURN(OutputMetricCount metric, decode_metric_count(item));
    metrics.push_back(std::move(metric));
  }
  return metrics;
}

}  // namespace

OrderedJson json_of(const OutputReport& report) {
  OrderedJson metrics = OrderedJson::array();
  for (const OutputMetricCount& metric : report.metrics) {
    metrics.push_back({{"name", metric.name},
                       {"values", metric.values},
                       {"duplicates", metric.duplicates},
                       {"parse_errors", metric.parse_errors},
                       {"first_unreadable", mask_secrets(metric.first_unreadable)},
                       {"given_up", metric.given_up}});
  }
  return {{"began_unix_ns", report.began_unix_ns},
          {"file", report.file},
          {"bytes", report.bytes},
          {"records", report.records},
          {"cut_records", report.cut_records},
          {"restarts", report.restarts},
          {"lost_values", report.lost_values},
          {"metrics", std::move(metrics)}};
}

std::string encode_output_report(const OutputReport& report) {
  OrderedJson event = {{"type", kReportType}};
  event.update(json_of(report));
  return dump_json(event);
}

Result<std::optional<OutputReport>> decode_output_report(std::string_view text) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, parse_json_object(text, "event"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string type, string_field(json, "type"));
  if (type != kReportType) return std::optional<OutputReport>();
  OutputReport report;
  TRAINWARDEN_ASSIGN_OR_RETURN(report.began_unix_ns, int_field(json, "began_unix_ns"));
  TRAINWARDEN_ASSIGN_OR_RETURN(report.file, string_field(json, "file"));
  TRAINWARDEN_ASSIGN_OR_RETURN(report.bytes, uint_field(json, "bytes"));
  TRAINWARDEN_ASSIGN_OR_RETURN(report.records, uint_field(json, "records"));
  TRAINWARDEN_ASSIGN_OR_RETURN(report.cut_records, uint_field(json, "cut_records"));
  TRAINWARDEN_ASSIGN_OR_RETURN(report.restarts, uint_field(json, "restarts"));
  TRAINWARDEN_ASSIGN_OR_RETURN(report.lost_values, uint_field(json, "lost_values"));
  TRAINWARDEN_ASSIGN_OR_RETURN(report.metrics, decode_metric_counts(json));
  return std::optional(std::move(report));
}

void add_report(OutputReport& sum, const OutputReport& next) {
  sum.began_unix_ns = next.began_unix_ns;
  sum.file = next.file;
  sum.bytes += next.bytes;
  sum.records += next.records;
  sum.cut_records += next.cut_records;
  sum.restarts += next.restarts;
  sum.lost_values += next.lost_values;
  for (const OutputMetricCount& metric : next.metrics) {
    const auto known = std::find_if(sum.metrics.begin(), sum.metrics.end(),
                                    [&](const OutputMetricCount& other) { return other.name == metric.name; });
    if (known == sum.metrics.end()) {
      sum.metrics.push_back(metric);
      continue;
    }
    known->values += metric.values;
    known->duplicates += metric.duplicates;
    if (known->parse_errors == 0) known->first_unreadable = metric.first_unreadable;
    known->parse_errors += metric.parse_errors;
    known->given_up += metric.given_up;
  }
}

}  // namespace trainwarden::format
