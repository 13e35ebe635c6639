#include "work/catalogue/list_item.h"

#include "core/base/text.h"
#include "data/format/json_number.h"

namespace trainwarden::catalogue {
namespace {

constexpr std::string_view kParameters = "Parameters.";
constexpr std::string_view kMetrics = "Metrics.";

std::optional<ListValue> found_in(const std::map<std::string, ListValue>& values, const std::string& name) {
  const auto found = values.find(name);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

// The smallest, the largest and what else is of finite values, when there is none.
std::optional<ListValue> number_of(const experiments::MetricSummary& metric, const std::string& number) {
  if (number == "last") return metric.last;
  if (number == "count") return static_cast<double>(metric.count);
  if (metric.finite == 0) return std::nullopt;
  if (number == "min") return metric.min;
  if (number == "max") return metric.max;
  if (number == "avg") return metric.mean;
  if (number == "stddev") return metric.deviation();
  return std::nullopt;
}

// "loss", or "loss.min" where no metric is called so.
std::optional<ListValue> metric_of(const ListItem& item, const std::string& name) {
  const auto whole = item.metrics.find(name);
  if (whole != item.metrics.end()) return whole->second.last;
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos) return std::nullopt;
  const auto found = item.metrics.find(name.substr(0, dot));
  if (found == item.metrics.end()) return std::nullopt;
  return number_of(found->second, lower(name.substr(dot + 1)));
}

std::optional<ListValue> own_value(const ListItem& item, std::string_view name) {
  if (name == "name") return item.name;
  if (name == "status" && !item.statuses.empty()) return item.statuses.front();
  if (name == "experiment" && !item.experiment.empty()) return item.experiment;
  return std::nullopt;
}

}  // namespace

std::optional<ListValue> value_of(const ListItem& item, std::string_view name) {
  const std::string key(name);
  if (auto value = found_in(item.values, key)) return value;
  if (auto value = found_in(item.facts, key)) return value;
  if (auto value = metric_of(item, key)) return value;
  if (name.starts_with(kParameters)) return found_in(item.values, key.substr(kParameters.size()));
  if (name.starts_with(kMetrics)) return metric_of(item, key.substr(kMetrics.size()));
  return own_value(item, name);
}

std::vector<std::string> value_names(const ListItem& item) {
  std::vector<std::string> names;
  for (const auto& [name, value] : item.values) names.push_back(name);
  for (const auto& [name, value] : item.facts) names.push_back(name);
  for (const auto& [name, metric] : item.metrics) names.push_back(name);
  return names;
}

std::map<std::string, ListValue> list_values(const std::string& json) {
  std::map<std::string, ListValue> values;
  if (json.empty() || json == "{}") return values;
  const Result<format::Json> object = format::parse_json_object(json, "values");
  if (!object.ok()) return values;
  for (const auto& [name, value] : object->items()) {
    if (value.is_number()) values.emplace(name, value.get<double>());
    if (value.is_string()) values.emplace(name, value.get<std::string>());
  }
  return values;
}

format::OrderedJson json_of(const ListValue& value) {
  if (const double* const number = std::get_if<double>(&value)) return format::json_number(*number);
  return std::get<std::string>(value);
}

format::OrderedJson json_of(const std::map<std::string, ListValue>& values) {
  format::OrderedJson json = format::OrderedJson::object();
  for (const auto& [name, value] : values) json[name] = json_of(value);
  return json;
}

}  // namespace trainwarden::catalogue
