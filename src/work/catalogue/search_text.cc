// Searches as they are written: as JSON in SageMaker's shape, and as words on a command line.
#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "data/format/json.h"
#include "work/catalogue/component_search.h"

namespace trainwarden::catalogue {
namespace {

using format::Json;

struct OperatorName {
  SearchOperator comparison;
  const char* name;
  const char* sign;  // as it is typed; empty: by its name alone
};

constexpr std::array<OperatorName, 10> kOperators = {{
    {SearchOperator::kEquals, "Equals", "="},
    {SearchOperator::kNotEquals, "NotEquals", "!="},
    {SearchOperator::kGreaterThanOrEqualTo, "GreaterThanOrEqualTo", ">="},
    {SearchOperator::kGreaterThan, "GreaterThan", ">"},
    {SearchOperator::kLessThanOrEqualTo, "LessThanOrEqualTo", "<="},
    {SearchOperator::kLessThan, "LessThan", "<"},
    {SearchOperator::kContains, "Contains", "~"},
    {SearchOperator::kExists, "Exists", ""},
    {SearchOperator::kNotExists, "NotExists", ""},
    {SearchOperator::kIn, "In", ""},
}};

Result<SearchOperator> operator_named(std::string_view name) {
  std::vector<std::string> known;
  for (const OperatorName& one : kOperators) {
    if (name == one.name || (*one.sign != '\0' && name == one.sign)) return one.comparison;
    known.emplace_back(one.name);
  }
  return Status(Code::kInvalidArgument,
                fmt::format("\"{}\" is no operator; expected {}", printable(name), fmt::join(known, ", ")));
}

bool needs_value(SearchOperator comparison) {
  return comparison != SearchOperator::kExists && comparison != SearchOperator::kNotExists;
}

Status wrong_search(const std::string& place, const std::string& what) {
  return Status(Code::kInvalidArgument, fmt::format("{}: {}", place, what));
}

// The list in a field, which may be absent; kMaxSearchTerms at most.
Result<std::vector<Json>> terms_of(const Json& json, const char* field, const std::string& place) {
  if (!json.contains(field)) return std::vector<Json>();
  const Json& list = json[field];
  if (!list.is_array()) return wrong_search(place + "." + field, "expected a list");
  if (list.size() > kMaxSearchTerms) {
    return wrong_search(place + "." + field, fmt::format("{} entries; {} are the most", list.size(), kMaxSearchTerms));
  }
  for (const Json& term : list) {
    if (!term.is_object()) return wrong_search(place + "." + field, "expected objects");
  }
  return list.get<std::vector<Json>>();
}

Status refuse_other_fields(const Json& json, const std::string& place, const std::vector<std::string>& known) {
  for (const auto& [field, value] : json.items()) {
    if (std::find(known.begin(), known.end(), field) != known.end()) continue;
    return wrong_search(place, fmt::format("unknown field \"{}\"{}", printable(field), did_you_mean(field, known)));
  }
  return Status();
}

Result<std::string> text_of(const Json& json, const char* field, const std::string& place) {
  if (!json.contains(field) || !json[field].is_string()) {
    return wrong_search(place, fmt::format("expected a text {}", field));
  }
  return json[field].get<std::string>();
}

Result<SearchFilter> filter_of(const Json& json, const std::string& place) {
  TRAINWARDEN_RETURN_IF_ERROR(refuse_other_fields(json, place, {"Name", "Operator", "Value"}));
  SearchFilter filter;
  TRAINWARDEN_ASSIGN_OR_RETURN(filter.property, text_of(json, "Name", place));
  if (json.contains("Operator")) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::string name, text_of(json, "Operator", place));
    Result<SearchOperator> comparison = operator_named(name);
    if (!comparison.ok()) return comparison.status().with_context(place);
    filter.comparison = *comparison;
  }
  if (needs_value(filter.comparison) || json.contains("Value")) {
    TRAINWARDEN_ASSIGN_OR_RETURN(filter.value, text_of(json, "Value", place));
  }
  return filter;
}

Result<std::vector<SearchFilter>> filters_of(const Json& json, const std::string& place) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<Json> terms, terms_of(json, "Filters", place));
  std::vector<SearchFilter> filters;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    TRAINWARDEN_ASSIGN_OR_RETURN(SearchFilter filter, filter_of(terms[i], fmt::format("{}.Filters[{}]", place, i)));
    filters.push_back(std::move(filter));
  }
  return filters;
}

Result<SearchExpression> expression_of(const Json& json, const std::string& place, std::size_t depth) {
  if (depth > kMaxSearchDepth) return wrong_search(place, fmt::format("nested deeper than {} levels", kMaxSearchDepth));
  TRAINWARDEN_RETURN_IF_ERROR(
      refuse_other_fields(json, place, {"Filters", "NestedFilters", "SubExpressions", "Operator"}));
  SearchExpression expression;
  TRAINWARDEN_ASSIGN_OR_RETURN(expression.filters, filters_of(json, place));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<Json> nested, terms_of(json, "NestedFilters", place));
  for (std::size_t i = 0; i < nested.size(); ++i) {
    const std::string where = fmt::format("{}.NestedFilters[{}]", place, i);
    TRAINWARDEN_RETURN_IF_ERROR(refuse_other_fields(nested[i], where, {"NestedPropertyName", "Filters"}));
    NestedSearchFilter filter;
    TRAINWARDEN_ASSIGN_OR_RETURN(filter.property, text_of(nested[i], "NestedPropertyName", where));
    TRAINWARDEN_ASSIGN_OR_RETURN(filter.filters, filters_of(nested[i], where));
    if (filter.filters.empty()) return wrong_search(where, "expected Filters");
    expression.nested.push_back(std::move(filter));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<Json> parts, terms_of(json, "SubExpressions", place));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    TRAINWARDEN_ASSIGN_OR_RETURN(SearchExpression part,
                                 expression_of(parts[i], fmt::format("{}.SubExpressions[{}]", place, i), depth + 1));
    expression.parts.push_back(std::move(part));
  }
  if (!json.contains("Operator")) return expression;
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string name, text_of(json, "Operator", place));
  if (name != "And" && name != "Or") return wrong_search(place, "Operator: expected And or Or");
  expression.any = name == "Or";
  return expression;
}

// The first sign in the text, the longest that begins there.
struct FoundSign {
  std::size_t begin = 0;
  std::size_t size = 0;
  SearchOperator comparison{};
};
std::optional<FoundSign> find_sign(std::string_view text) {
  std::optional<FoundSign> found;
  for (const OperatorName& one : kOperators) {
    if (*one.sign == '\0') continue;
    const std::size_t begin = text.find(one.sign);
    const std::size_t size = std::string_view(one.sign).size();
    if (begin == std::string_view::npos) continue;
    if (!found || begin < found->begin || (begin == found->begin && size > found->size)) {
      found = FoundSign{begin, size, one.comparison};
    }
  }
  return found;
}

}  // namespace

Result<SearchFilter> parse_search_filter(std::string_view text) {
  const std::string_view whole = trim(text);
  // Words first: "Parameters.a=b Equals x" has a sign in a name.
  for (const OperatorName& one : kOperators) {
    const std::string word = fmt::format(" {}", one.name);
    const std::size_t begin = whole.find(word);
    if (begin == std::string_view::npos) continue;
    const std::string_view rest = whole.substr(begin + word.size());
    if (!rest.empty() && rest.front() != ' ') continue;
    SearchFilter filter{std::string(trim(whole.substr(0, begin))), one.comparison, std::string(trim(rest))};
    if (needs_value(filter.comparison) == !filter.value.empty() && !filter.property.empty()) return filter;
  }
  if (const auto sign = find_sign(whole); sign && sign->begin > 0) {
    SearchFilter filter{std::string(trim(whole.substr(0, sign->begin))), sign->comparison,
                        std::string(trim(whole.substr(sign->begin + sign->size)))};
    if (!filter.value.empty()) return filter;
  }
  return Status(
      Code::kInvalidArgument,
      fmt::format("\"{}\" is no filter; expected a name, an operator and a value, as in \"Parameters.lr > 0.1\" "
                  "or \"Metrics.loss.Last Exists\"",
                  printable(text)));
}

Result<SearchExpression> parse_search_expression(std::string_view json) {
  const Result<Json> parsed = format::parse_json_object(json, "the search");
  if (!parsed.ok()) return Status(Code::kInvalidArgument, parsed.status().message());
  return expression_of(*parsed, "SearchExpression", 1);
}

}  // namespace trainwarden::catalogue
