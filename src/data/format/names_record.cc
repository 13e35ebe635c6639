#include "data/format/names_record.h"

#include <array>
#include <limits>

#include <fmt/format.h>

#include "data/format/compact_headers.h"
#include "data/format/json.h"
#include "data/format/name_escape.h"

namespace trainwarden::format {
namespace {

constexpr std::array kMetricKinds = {MetricKind::kGauge, MetricKind::kCounter, MetricKind::kDelta, MetricKind::kRatio};
constexpr std::array kMetricSources = {MetricSource::kHost, MetricSource::kProcess, MetricSource::kDevice,
                                       MetricSource::kRank};

Result<std::uint32_t> id_field(const Json& json) {
  constexpr std::uint64_t kLargestId = std::numeric_limits<std::uint32_t>::max();
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint64_t id, uint_field(json, "id", kLargestId));
  return static_cast<std::uint32_t>(id);
}

// The value whose name it is; kUnknown when a newer writer has one more.
template <class Values>
Result<typename Values::value_type> known_word_field(const Json& json, const char* field, const Values& values) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string word, string_field(json, field));
  for (const auto value : values) {
    if (name(value) == word) return value;
  }
  return Values::value_type::kUnknown;
}

Result<NameEntry> decode_tensor(const Json& json) {
  NameEntry entry;
  TRAINWARDEN_ASSIGN_OR_RETURN(entry.id, id_field(json));
  TRAINWARDEN_ASSIGN_OR_RETURN(entry.name, name_field(json, "name"));
  TRAINWARDEN_ASSIGN_OR_RETURN(entry.collections, names_field(json, "collections"));
  return entry;
}

Result<MetricEntry> decode_metric(const Json& json) {
  MetricEntry entry;
  TRAINWARDEN_ASSIGN_OR_RETURN(entry.id, id_field(json));
  TRAINWARDEN_ASSIGN_OR_RETURN(entry.metric.name, name_field(json, "name"));
  TRAINWARDEN_ASSIGN_OR_RETURN(entry.metric.unit, name_field(json, "unit"));
  TRAINWARDEN_ASSIGN_OR_RETURN(entry.metric.kind, known_word_field(json, "kind", kMetricKinds));
  TRAINWARDEN_ASSIGN_OR_RETURN(entry.metric.source, known_word_field(json, "source", kMetricSources));
  TRAINWARDEN_ASSIGN_OR_RETURN(entry.metric.instance, name_field(json, "instance"));
  return entry;
}

template <class Entry>
Status decode_entries(const Json& array, std::string_view what, Result<Entry> (*decode)(const Json&),
                      std::vector<Entry>& entries) {
  entries.reserve(array.size());
  for (const Json& item : array) {
    Result<Entry> entry = decode(item);
    if (!entry.ok()) return entry.status().with_context(fmt::format("names: {} {}", what, entries.size()));
    entries.push_back(*std::move(entry));
  }
  return Status();
}

OrderedJson metrics_to_json(std::span<const MetricEntry> entries) {
  OrderedJson metrics = OrderedJson::array();
  for (const auto& [id, metric] : entries) {
    metrics.push_back({{"id", id},
                       {"name", escape_name(metric.name)},
                       {"unit", escape_name(metric.unit)},
                       {"kind", name(metric.kind)},
                       {"source", name(metric.source)},
                       {"instance", escape_name(metric.instance)}});
  }
  return metrics;
}

}  // namespace

std::string encode_names(std::span<const NameEntry> entries, std::span<const MetricEntry> metrics) {
  OrderedJson tensors = OrderedJson::array();
  for (const NameEntry& entry : entries) {
    tensors.push_back(
        {{"id", entry.id}, {"name", escape_name(entry.name)}, {"collections", names_to_json(entry.collections)}});
  }
  OrderedJson json = {{"tensors", std::move(tensors)}};
  if (!metrics.empty()) json["metrics"] = metrics_to_json(metrics);
  return dump_json(json);
}

Result<Names> decode_names(std::string_view text) {
  if (auto compact = read_compact_names(text)) return *std::move(compact);
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, parse_json_object(text, "names"));
  Names names;
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* tensors, array_field(json, "tensors"));
  TRAINWARDEN_RETURN_IF_ERROR(decode_entries(*tensors, "tensor", decode_tensor, names.tensors));
  if (!json.contains("metrics")) return names;
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* metrics, array_field(json, "metrics"));
  TRAINWARDEN_RETURN_IF_ERROR(decode_entries(*metrics, "metric", decode_metric, names.metrics));
  return names;
}

}  // namespace trainwarden::format
