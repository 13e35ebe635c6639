// Which components are meant: filters as SageMaker's Search has them, and as they are typed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/status.h"

namespace trainwarden::catalogue {

inline constexpr std::size_t kMaxSearchTerms = 20;  // filters, nested filters and expressions within one, each
inline constexpr std::size_t kMaxSearchDepth = 5;

enum class SearchOperator : std::uint8_t {
  kEquals,
  kNotEquals,
  kGreaterThan,
  kGreaterThanOrEqualTo,
  kLessThan,
  kLessThanOrEqualTo,
  kContains,
  kExists,
  kNotExists,
  kIn,
};

// "Parameters.lr GreaterThan 0.1". The names are in docs/reference/experiments.md.
struct SearchFilter {
  std::string property;
  SearchOperator comparison = SearchOperator::kEquals;
  std::string value;
  friend bool operator==(const SearchFilter&, const SearchFilter&) = default;
};

// All of these must be true of one and the same parent, metric or artifact.
struct NestedSearchFilter {
  std::string property;  // "Parents", "Metrics", "InputArtifacts", ...
  std::vector<SearchFilter> filters;
};

struct SearchExpression {
  std::vector<SearchFilter> filters;
  std::vector<NestedSearchFilter> nested;
  std::vector<SearchExpression> parts;
  bool any = false;  // one of all these is enough
};

// "NAME OPERATOR VALUE" or "NAME Exists"; =, !=, >, >=, <, <= and ~ (Contains) are operators too. kInvalidArgument.
Result<SearchFilter> parse_search_filter(std::string_view text);
// SageMaker's SearchExpression as JSON. kInvalidArgument with the place of what is wrong.
Result<SearchExpression> parse_search_expression(std::string_view json);

struct SortChoice {
  std::string property = "CreationTime";
  bool ascending = false;
};

// A condition on a row `c` of the table `component`, with the values for its question marks.
struct SearchValue {
  enum class Kind : std::uint8_t { kInteger, kNumber, kText } kind = Kind::kText;
  std::int64_t integer = 0;
  double number = 0;
  std::string text;
};
struct SearchCondition {
  std::string sql;
  std::vector<SearchValue> values;
};
// kInvalidArgument for a property that there is not, with the nearest one, and a value that does not suit it.
Result<SearchCondition> condition_of(const SearchExpression& expression);
// What a sorting by it compares: an expression over `c`.
Result<SearchCondition> sort_key_of(const std::string& property);

}  // namespace trainwarden::catalogue
