#include "work/catalogue/list_choice.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "work/catalogue/list_filter.h"

namespace trainwarden::catalogue {
namespace {

// The first of many.
std::string what_there_is(const std::vector<std::string>& names) {
  constexpr std::size_t kMostNames = 20;
  if (names.empty()) return "nothing in it has any";
  const std::size_t shown = std::min(names.size(), kMostNames);
  std::string text = "there are";
  for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? " " : ", ") + printable(names[i]);
  return shown == names.size() ? text : fmt::format("{} and {} more", text, names.size() - shown);
}

Status check_value(const std::vector<ListItem>& items, const std::string& name) {
  std::set<std::string> known;
  for (const ListItem& item : items) {
    if (value_of(item, name)) return Status();
    for (std::string& one : value_names(item)) known.insert(std::move(one));
  }
  if (items.empty()) return Status();
  const std::vector<std::string> names(known.begin(), known.end());
  const std::string near = did_you_mean(name, names);
  return Status(Code::kInvalidArgument, fmt::format("nothing in the list has a value \"{}\"{}", printable(name),
                                                    near.empty() ? "; " + what_there_is(names) : near));
}

// In small letters and large ones; with the nearest one, or all.
Status check_status(const std::string& status, const std::vector<std::string>& known) {
  const auto is_it = [wanted = lower(status)](const std::string& one) { return lower(one) == wanted; };
  if (std::any_of(known.begin(), known.end(), is_it)) return Status();
  const std::string near = did_you_mean(status, known);
  return Status(Code::kInvalidArgument,
                fmt::format("--status: there is no status \"{}\"{}", printable(status),
                            near.empty() ? fmt::format("; expected one of {}", fmt::join(known, ", ")) : near));
}

bool is_built_in(const std::string& sort) {
  return sort.empty() || sort == "time" || sort == "name" || sort == "status";
}

std::optional<ListValue> sort_key(const ListItem& item, const std::string& sort) {
  if (sort.empty() || sort == "time") return static_cast<double>(item.unix_ns);
  if (sort == "name") return item.name;
  if (sort == "status") return item.statuses.empty() ? std::string() : item.statuses.front();
  auto value = value_of(item, sort);
  const double* const number = value ? std::get_if<double>(&*value) : nullptr;
  if (number != nullptr && std::isnan(*number)) return std::nullopt;  // has no place among numbers
  return value;
}

void sort_places(const std::vector<ListItem>& items, const ListChoice& choice, std::vector<std::size_t>& places) {
  std::vector<std::optional<ListValue>> keys(items.size());
  for (const std::size_t place : places) keys[place] = sort_key(items[place], choice.sort);
  const bool falling = choice.sort.empty() != choice.reverse;  // the newest first, unless something else is said
  std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
    if (!keys[a] || !keys[b]) return keys[a].has_value() && !keys[b].has_value();
    return falling ? *keys[b] < *keys[a] : *keys[a] < *keys[b];
  });
}

// The values that it names, but for filters that need none.
std::vector<std::string> named_values(const ListChoice& choice, const std::vector<SearchFilter>& conditions) {
  std::vector<std::string> names = choice.columns;
  if (!is_built_in(choice.sort)) names.push_back(choice.sort);
  for (const SearchFilter& condition : conditions) {
    if (condition.comparison != SearchOperator::kNotExists) names.push_back(condition.property);
  }
  return names;
}

}  // namespace

Result<std::vector<std::size_t>> choose(const std::vector<ListItem>& items, const ListChoice& choice,
                                        std::int64_t now_unix_ns) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const ListFilter filter, ListFilter::create(choice, now_unix_ns));
  for (const std::string& name : named_values(choice, filter.conditions())) {
    TRAINWARDEN_RETURN_IF_ERROR(check_value(items, name));
  }
  for (const std::string& status : choice.statuses) {
    TRAINWARDEN_RETURN_IF_ERROR(check_status(status, choice.known_statuses));
  }
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (filter.takes(items[i])) places.push_back(i);
  }
  sort_places(items, choice, places);
  return places;
}

bool needs_metrics(const std::vector<ListItem>& items, const ListChoice& choice) {
  std::vector<std::string> names = choice.columns;
  if (!is_built_in(choice.sort)) names.push_back(choice.sort);
  for (const std::string& filter : choice.filters) {
    if (const auto condition = parse_search_filter(filter); condition.ok()) names.push_back(condition->property);
  }
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return std::none_of(items.begin(), items.end(), [&](const ListItem& item) { return item.values.contains(name); });
  });
}

}  // namespace trainwarden::catalogue
