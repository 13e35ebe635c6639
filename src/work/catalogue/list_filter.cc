#include "work/catalogue/list_filter.h"

#include <algorithm>
#include <compare>

#include <fmt/format.h>

#include "core/base/rfc3339.h"
#include "core/base/text.h"
#include "work/document/table_reader.h"

namespace trainwarden::catalogue {
namespace {

// The moment that "2 h" (so long ago), "2026-11-20" or a whole time stands for.
Result<std::int64_t> moment_of(const std::string& text, std::int64_t now_unix_ns) {
  if (const auto seconds = document::parse_seconds(text); seconds && *seconds < 1e9) {
    return now_unix_ns - static_cast<std::int64_t>(*seconds * 1e9);
  }
  if (const auto time = parse_rfc3339(text)) return *time;
  if (const auto day = parse_rfc3339(text + "T00:00:00Z")) return *day;
  return Status(
      Code::kInvalidArgument,
      fmt::format(
          "--since \"{}\" is no time; expected how long ago (\"10 m\", \"2 h\", \"3 d\"), a day (2026-11-20) or "
          "a time (2026-11-20T03:12:00Z)",
          printable(text)));
}

bool has_status(const ListItem& item, const std::set<std::string>& wanted) {
  return std::any_of(item.statuses.begin(), item.statuses.end(),
                     [&](const std::string& status) { return wanted.contains(lower(status)); });
}

// Numbers by their size, texts by their letters. A number and a text that is none are not compared.
std::partial_ordering compare(const ListValue& value, const std::string& wanted) {
  const double* const number = std::get_if<double>(&value);
  if (number == nullptr) return std::get<std::string>(value).compare(wanted) <=> 0;
  const auto wanted_number = parse_double(wanted);
  return wanted_number ? *number <=> *wanted_number : std::partial_ordering::unordered;
}

bool equals_any(const ListValue& value, const std::string& wanted) {
  const std::vector<std::string> list = split_list(wanted);
  return std::any_of(list.begin(), list.end(), [&](const std::string& one) { return compare(value, one) == 0; });
}

bool contains(const ListValue& value, const std::string& wanted) {
  const std::string* const text = std::get_if<std::string>(&value);
  return text != nullptr && text->find(wanted) != std::string::npos;
}

bool fits(const std::optional<ListValue>& value, const SearchFilter& condition) {
  if (!value) return condition.comparison == SearchOperator::kNotExists;
  switch (condition.comparison) {
    case SearchOperator::kEquals: return compare(*value, condition.value) == 0;
    case SearchOperator::kNotEquals: return compare(*value, condition.value) != 0;
    case SearchOperator::kGreaterThan: return compare(*value, condition.value) > 0;
    case SearchOperator::kGreaterThanOrEqualTo: return compare(*value, condition.value) >= 0;
    case SearchOperator::kLessThan: return compare(*value, condition.value) < 0;
    case SearchOperator::kLessThanOrEqualTo: return compare(*value, condition.value) <= 0;
    case SearchOperator::kContains: return contains(*value, condition.value);
    case SearchOperator::kExists: return true;
    case SearchOperator::kNotExists: return false;
    case SearchOperator::kIn: return equals_any(*value, condition.value);
  }
  return false;
}

}  // namespace

Result<ListFilter> ListFilter::create(const ListChoice& choice, std::int64_t now_unix_ns) {
  ListFilter filter;
  for (const std::string& status : choice.statuses) filter.statuses_.insert(lower(status));
  filter.experiment_ = choice.experiment;
  if (!choice.name.empty()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(filter.name_, Regex::compile(choice.name));
  }
  if (!choice.since.empty()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(filter.since_, moment_of(choice.since, now_unix_ns));
  }
  for (const std::string& text : choice.filters) {
    TRAINWARDEN_ASSIGN_OR_RETURN(SearchFilter condition, parse_search_filter(text));
    filter.conditions_.push_back(std::move(condition));
  }
  return filter;
}

bool ListFilter::takes(const ListItem& item) const {
  if (!statuses_.empty() && !has_status(item, statuses_)) return false;
  if (!experiment_.empty() && item.experiment != experiment_) return false;
  if (since_ && item.unix_ns < *since_) return false;
  if (name_ && !name_->found_in(item.name)) return false;
  return std::all_of(conditions_.begin(), conditions_.end(), [&](const SearchFilter& condition) {
    return fits(value_of(item, condition.property), condition);
  });
}

}  // namespace trainwarden::catalogue
