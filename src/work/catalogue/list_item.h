// ListItem: a job or a run, with all by which a list can show, filter and sort it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "data/format/json.h"
#include "work/experiments/metric_summary.h"

namespace trainwarden::catalogue {

using ListValue = std::variant<double, std::string>;
using MetricsByName = std::map<std::string, experiments::MetricSummary>;

struct ListItem {
  std::string name;
  std::vector<std::string> statuses;  // words for where it stands, the most exact first
  std::string experiment;
  std::int64_t unix_ns = 0;                 // when it began
  std::map<std::string, ListValue> values;  // hyper-parameters, labels
  std::map<std::string, ListValue> facts;   // "steps", "ran"
  MetricsByName metrics;
};

// The value that a column or a filter of this name means: a hyper-parameter or label, else a fact, else the last value
// of a metric, else `name`, `status` or `experiment`. "loss.min" is a number of a metric: .last, .min, .max, .avg,
// .stddev or .count, in small letters or large ones. "Parameters.lr" and "Metrics.loss.Min" mean only those. None: it
// has none.
std::optional<ListValue> value_of(const ListItem& item, std::string_view name);

// The names of its values, facts and metrics.
std::vector<std::string> value_names(const ListItem& item);

// The fields of a JSON object that are numbers or texts; of an empty text none.
std::map<std::string, ListValue> list_values(const std::string& json);
format::OrderedJson json_of(const ListValue& value);
format::OrderedJson json_of(const std::map<std::string, ListValue>& values);

}  // namespace trainwarden::catalogue
