#include "work/catalogue/component_search.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/rfc3339.h"
#include "core/base/text.h"

namespace trainwarden::catalogue {
namespace {

enum class ValueKind : std::uint8_t { kText, kNumber, kTime, kParameter };  // kParameter: a number or a text

// A property of the component itself.
struct OwnProperty {
  const char* name;
  const char* column;
  ValueKind kind;
};
constexpr std::array<OwnProperty, 14> kOwnProperties = {{
    {"TrialComponentName", "c.name", ValueKind::kText},
    {"DisplayName", "c.display", ValueKind::kText},
    {"RunName", "c.run_name", ValueKind::kText},
    {"SourceArn", "c.source", ValueKind::kText},
    {"Source.SourceArn", "c.source", ValueKind::kText},
    {"Status.PrimaryStatus", "c.status", ValueKind::kText},
    {"Status", "c.status", ValueKind::kText},
    {"Status.Message", "c.message", ValueKind::kText},
    {"StartTime", "c.began", ValueKind::kTime},
    {"EndTime", "c.ended", ValueKind::kTime},
    {"CreationTime", "c.created", ValueKind::kTime},
    {"LastModifiedTime", "c.changed", ValueKind::kTime},
    {"Name", "c.name", ValueKind::kText},
    {"Message", "c.message", ValueKind::kText},
}};

struct PartColumn {
  const char* name;  // the last part of a property
  const char* column;
  ValueKind kind;
};

// What a component has several of, each as a row `x` of `table`.
struct PartTable {
  const char* name;
  const char* table;
  const char* key;  // the column that the middle of a property compares with; null: there is none
  std::array<PartColumn, 6> columns;
};
constexpr const char* kParentRows =
    "component_trial ct JOIN trial x ON x.name = ct.trial AND x.place = c.place WHERE ct.component = c.id";
constexpr std::array<PartTable, 6> kPartTables = {{
    {"Parents",
     kParentRows,
     nullptr,
     {{{"TrialName", "x.name", ValueKind::kText}, {"ExperimentName", "x.experiment", ValueKind::kText}}}},
    {"Parameters", "parameter x WHERE x.component = c.id", "x.name", {{{"Value", "", ValueKind::kParameter}}}},
    {"Metrics",
     "metric x WHERE x.component = c.id",
     "x.name",
     {{{"Min", "x.min", ValueKind::kNumber},
       {"Max", "x.max", ValueKind::kNumber},
       {"Avg", "x.mean", ValueKind::kNumber},
       {"StdDev", "x.deviation", ValueKind::kNumber},
       {"Last", "x.last", ValueKind::kNumber},
       {"Count", "x.count", ValueKind::kNumber}}}},
    {"InputArtifacts",
     "artifact x WHERE x.component = c.id AND x.is_output = 0",
     "x.name",
     {{{"Value", "x.uri", ValueKind::kText},
       {"MediaType", "x.media_type", ValueKind::kText},
       {"Hash", "x.hash", ValueKind::kText},
       {"Type", "x.type", ValueKind::kText}}}},
    {"OutputArtifacts",
     "artifact x WHERE x.component = c.id AND x.is_output = 1",
     "x.name",
     {{{"Value", "x.uri", ValueKind::kText},
       {"MediaType", "x.media_type", ValueKind::kText},
       {"Hash", "x.hash", ValueKind::kText},
       {"Type", "x.type", ValueKind::kText}}}},
    {"Tags", "tag x WHERE x.component = c.id", "x.name", {{{"Value", "x.value", ValueKind::kText}}}},
}};

// A property, resolved.
struct FoundProperty {
  std::string column;
  ValueKind kind = ValueKind::kText;
  const PartTable* part = nullptr;  // null: of the component itself
  std::string key;                  // which metric, parameter, ...; empty: any
};

Status unknown_property(const std::string& property) {
  std::vector<std::string> known;
  for (const OwnProperty& own : kOwnProperties) known.emplace_back(own.name);
  for (const PartTable& part : kPartTables) {
    for (const PartColumn& column : part.columns) {
      if (column.name == nullptr) continue;
      known.push_back(part.key == nullptr ? fmt::format("{}.{}", part.name, column.name)
                                          : fmt::format("{}.NAME.{}", part.name, column.name));
    }
  }
  const std::string nearest = did_you_mean(property, known);
  return Status(Code::kInvalidArgument,
                fmt::format("components have no \"{}\"{}", printable(property),
                            nearest.empty() ? fmt::format("; expected one of {}", fmt::join(known, ", ")) : nearest));
}

// "loss.Max" of Metrics: the column Max of the row "loss". A value alone is the first column where there is one to
// choose by its key: "lr" of Parameters.
std::optional<FoundProperty> property_of_part(const PartTable& part, const std::string& rest) {
  for (const PartColumn& column : part.columns) {
    if (column.name == nullptr) break;
    if (part.key == nullptr) {
      if (rest == column.name) return FoundProperty{column.column, column.kind, &part, ""};
      continue;
    }
    const std::string ending = fmt::format(".{}", column.name);
    if (rest.size() > ending.size() && rest.ends_with(ending)) {
      return FoundProperty{column.column, column.kind, &part, rest.substr(0, rest.size() - ending.size())};
    }
  }
  const bool is_metric = std::string_view(part.name) == "Metrics";
  if (part.key == nullptr || rest.empty()) return std::nullopt;
  // A metric alone is its last value.
  const PartColumn& alone = is_metric ? part.columns[4] : part.columns[0];
  return FoundProperty{alone.column, alone.kind, &part, rest};
}

Result<FoundProperty> find_property(const std::string& property) {
  for (const OwnProperty& own : kOwnProperties) {
    if (property == own.name) return FoundProperty{own.column, own.kind, nullptr, ""};
  }
  for (const PartTable& part : kPartTables) {
    const std::string beginning = fmt::format("{}.", part.name);
    if (!property.starts_with(beginning)) continue;
    if (auto found = property_of_part(part, property.substr(beginning.size()))) return *std::move(found);
  }
  return unknown_property(property);
}

SearchValue text_value(std::string text) {
  SearchValue value;
  value.text = std::move(text);
  return value;
}

SearchValue number_value(double number) {
  SearchValue value;
  value.kind = SearchValue::Kind::kNumber;
  value.number = number;
  return value;
}

SearchValue integer_value(std::int64_t integer) {
  SearchValue value;
  value.kind = SearchValue::Kind::kInteger;
  value.integer = integer;
  return value;
}

// A time as people and programs write it: RFC 3339, or seconds since 1970.
std::optional<std::int64_t> time_of(const std::string& text) {
  if (const auto time = parse_rfc3339(text)) return time;
  if (const auto day = parse_rfc3339(text + "T00:00:00Z")) return day;
  const auto seconds = parse_double(text);
  if (!seconds || !(*seconds >= 0) || *seconds > 9e9) return std::nullopt;
  return static_cast<std::int64_t>(*seconds * 1e9);
}

const char* sign_of(SearchOperator comparison) {
  switch (comparison) {
    case SearchOperator::kGreaterThan: return ">";
    case SearchOperator::kGreaterThanOrEqualTo: return ">=";
    case SearchOperator::kLessThan: return "<";
    case SearchOperator::kLessThanOrEqualTo: return "<=";
    default: return "=";
  }
}

// "column SIGN value" for one value; of a parameter with its two columns.
Result<SearchCondition> compare_with(const FoundProperty& property, const char* sign, const std::string& value) {
  const auto number = parse_double(value);
  switch (property.kind) {
    case ValueKind::kText: return SearchCondition{fmt::format("{} {} ?", property.column, sign), {text_value(value)}};
    case ValueKind::kNumber:
      if (!number) return Status(Code::kInvalidArgument, fmt::format("\"{}\" is no number", printable(value)));
      return SearchCondition{fmt::format("{} {} ?", property.column, sign), {number_value(*number)}};
    case ValueKind::kTime: {
      const auto time = time_of(value);
      if (!time) {
        return Status(Code::kInvalidArgument,
                      fmt::format("\"{}\" is no time; expected 2026-11-20T03:12:00Z or 2026-11-20", printable(value)));
      }
      return SearchCondition{fmt::format("{} {} ?", property.column, sign), {integer_value(*time)}};
    }
    case ValueKind::kParameter:
      if (!number) return SearchCondition{fmt::format("x.str {} ?", sign), {text_value(value)}};
      if (std::string_view(sign) == "=")
        return SearchCondition{"(x.num = ? OR x.str = ?)", {number_value(*number), text_value(value)}};
      return SearchCondition{fmt::format("x.num {} ?", sign), {number_value(*number)}};
  }
  return Status(Code::kInternal, "a kind of property that nobody knows");
}

Result<SearchCondition> compare_with_any(const FoundProperty& property, const std::string& values) {
  SearchCondition all{"(0", {}};
  for (const std::string& value : split_list(values)) {
    TRAINWARDEN_ASSIGN_OR_RETURN(SearchCondition one, compare_with(property, "=", value));
    all.sql += " OR " + one.sql;
    all.values.insert(all.values.end(), one.values.begin(), one.values.end());
  }
  all.sql += ")";
  return all;
}

// Of a row that is there.
Result<SearchCondition> row_condition(const FoundProperty& property, const SearchFilter& filter) {
  const bool is_parameter = property.kind == ValueKind::kParameter;
  switch (filter.comparison) {
    case SearchOperator::kExists:
    case SearchOperator::kNotExists: {
      if (is_parameter) return SearchCondition{"1", {}};
      const char* const is_there =
          property.kind == ValueKind::kText ? "({} IS NOT NULL AND {} <> '')" : "({} IS NOT NULL)";
      return SearchCondition{fmt::format(fmt::runtime(is_there), property.column, property.column), {}};
    }
    case SearchOperator::kContains: {
      const std::string column = is_parameter ? "x.str" : property.column;
      return SearchCondition{fmt::format("instr({}, ?) > 0", column), {text_value(filter.value)}};
    }
    case SearchOperator::kIn: return compare_with_any(property, filter.value);
    default: return compare_with(property, sign_of(filter.comparison), filter.value);
  }
}

// There is such a row.
SearchCondition exists_row(const FoundProperty& property, SearchCondition row) {
  if (property.part == nullptr) return row;
  SearchCondition exists{fmt::format("EXISTS(SELECT 1 FROM {}", property.part->table), {}};
  if (!property.key.empty()) {
    exists.sql += fmt::format(" AND {} = ?", property.part->key);
    exists.values.push_back(text_value(property.key));
  }
  exists.sql += fmt::format(" AND {})", row.sql);
  exists.values.insert(exists.values.end(), row.values.begin(), row.values.end());
  return exists;
}

Result<SearchCondition> filter_condition(const SearchFilter& filter) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const FoundProperty property, find_property(filter.property));
  SearchFilter plain = filter;
  if (filter.comparison == SearchOperator::kNotEquals) plain.comparison = SearchOperator::kEquals;
  TRAINWARDEN_ASSIGN_OR_RETURN(SearchCondition row, row_condition(property, plain));
  SearchCondition condition = exists_row(property, std::move(row));
  if (filter.comparison == SearchOperator::kNotExists) condition.sql = "NOT " + condition.sql;
  if (filter.comparison != SearchOperator::kNotEquals) return condition;
  // It has such a value, and none that is equal.
  TRAINWARDEN_ASSIGN_OR_RETURN(SearchCondition any, row_condition(property, {"", SearchOperator::kExists, ""}));
  SearchCondition there = exists_row(property, std::move(any));
  there.sql = fmt::format("({} AND NOT ({}))", there.sql, condition.sql);
  there.values.insert(there.values.end(), condition.values.begin(), condition.values.end());
  return there;
}

// All filters on one and the same row.
Result<SearchCondition> nested_condition(const NestedSearchFilter& nested) {
  const auto* const part = std::find_if(kPartTables.begin(), kPartTables.end(),
                                        [&](const PartTable& one) { return nested.property == one.name; });
  if (part == kPartTables.end()) {
    std::vector<std::string> known;
    for (const PartTable& one : kPartTables) known.emplace_back(one.name);
    return Status(Code::kInvalidArgument, fmt::format("NestedPropertyName \"{}\"; expected one of {}",
                                                      printable(nested.property), fmt::join(known, ", ")));
  }
  SearchCondition all{"1", {}};
  for (const SearchFilter& filter : nested.filters) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const FoundProperty property, find_property(filter.property));
    if (property.part != part) {
      return Status(Code::kInvalidArgument,
                    fmt::format("\"{}\" is not of {}", printable(filter.property), nested.property));
    }
    SearchFilter plain = filter;
    if (filter.comparison == SearchOperator::kNotEquals) plain.comparison = SearchOperator::kEquals;
    TRAINWARDEN_ASSIGN_OR_RETURN(SearchCondition row, row_condition(property, plain));
    const bool turned =
        filter.comparison == SearchOperator::kNotEquals || filter.comparison == SearchOperator::kNotExists;
    if (!property.key.empty()) {
      all.sql += fmt::format(" AND {} = ?", part->key);
      all.values.push_back(text_value(property.key));
    }
    all.sql += turned ? fmt::format(" AND NOT ({})", row.sql) : " AND " + row.sql;
    all.values.insert(all.values.end(), row.values.begin(), row.values.end());
  }
  FoundProperty any;
  any.part = part;
  return exists_row(any, std::move(all));
}

}  // namespace

Result<SearchCondition> condition_of(const SearchExpression& expression) {
  std::vector<SearchCondition> conditions;
  for (const SearchFilter& filter : expression.filters) {
    TRAINWARDEN_ASSIGN_OR_RETURN(SearchCondition condition, filter_condition(filter));
    conditions.push_back(std::move(condition));
  }
  for (const NestedSearchFilter& nested : expression.nested) {
    TRAINWARDEN_ASSIGN_OR_RETURN(SearchCondition condition, nested_condition(nested));
    conditions.push_back(std::move(condition));
  }
  for (const SearchExpression& part : expression.parts) {
    TRAINWARDEN_ASSIGN_OR_RETURN(SearchCondition condition, condition_of(part));
    conditions.push_back(std::move(condition));
  }
  SearchCondition all{conditions.empty() ? "1" : "", {}};
  for (SearchCondition& condition : conditions) {
    if (!all.sql.empty()) all.sql += expression.any ? " OR " : " AND ";
    all.sql += condition.sql;
    all.values.insert(all.values.end(), condition.values.begin(), condition.values.end());
  }
  all.sql = "(" + all.sql + ")";
  return all;
}

Result<SearchCondition> sort_key_of(const std::string& property) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const FoundProperty found, find_property(property));
  if (found.part == nullptr) return SearchCondition{found.column, {}};
  const std::string column = found.kind == ValueKind::kParameter ? "coalesce(x.num, x.str)" : found.column;
  SearchCondition key{fmt::format("(SELECT max({}) FROM {}", column, found.part->table), {}};
  if (!found.key.empty()) {
    key.sql += fmt::format(" AND {} = ?", found.part->key);
    key.values.push_back(text_value(found.key));
  }
  key.sql += ")";
  return key;
}

}  // namespace trainwarden::catalogue
