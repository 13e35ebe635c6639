#include "ui/cli/options/list_choice.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/base/regex.h"
#include "core/base/rfc3339.h"
#include "core/base/text.h"
#include "data/format/json_number.h"
#include "ui/cli/terminal/table.h"
#include "work/document/table_reader.h"

namespace trainwarden::cli {
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
      fmt::format("--since \"{}\" is no time; expected how long ago (\"2 h\", \"3 d\"), a day (2026-11-20) or "
                  "a time (2026-11-20T03:12:00Z)",
                  printable(text)));
}

bool has_status(const ListItem& item, const std::set<std::string>& wanted) {
  return std::any_of(item.statuses.begin(), item.statuses.end(),
                     [&](const std::string& status) { return wanted.contains(lower(status)); });
}

class ListFilter {
 public:
  static Result<ListFilter> create(const ListChoice& choice, std::int64_t now_unix_ns) {
    ListFilter filter;
    for (const std::string& status : choice.statuses) filter.statuses_.insert(lower(status));
    filter.experiment_ = choice.experiment;
    if (!choice.name.empty()) {
      TRAINWARDEN_ASSIGN_OR_RETURN(filter.name_, Regex::compile(choice.name));
    }
    if (!choice.since.empty()) {
      TRAINWARDEN_ASSIGN_OR_RETURN(filter.since_, moment_of(choice.since, now_unix_ns));
    }
    return filter;
  }

  bool takes(const ListItem& item) const {
    if (!statuses_.empty() && !has_status(item, statuses_)) return false;
    if (!experiment_.empty() && item.experiment != experiment_) return false;
    if (since_ && item.unix_ns < *since_) return false;
    return !name_ || name_->found_in(item.name);
  }

 private:
  std::set<std::string> statuses_;
  std::string experiment_;
  std::optional<Regex> name_;
  std::optional<std::int64_t> since_;
};

Status check_column(const std::vector<ListItem>& items, const std::string& column) {
  std::set<std::string> known;
  for (const ListItem& item : items) {
    if (item.values.contains(column)) return Status();
    for (const auto& [name, value] : item.values) known.insert(name);
  }
  if (items.empty()) return Status();
  const std::vector<std::string> names(known.begin(), known.end());
  return Status(Code::kInvalidArgument, fmt::format("nothing in the list has a value \"{}\"{}", printable(column),
                                                    did_you_mean(column, names)));
}

std::optional<ListValue> sort_key(const ListItem& item, const std::string& sort) {
  if (sort.empty() || sort == "time") return static_cast<double>(item.unix_ns);
  if (sort == "name") return item.name;
  if (sort == "status") return item.statuses.empty() ? std::string() : item.statuses.front();
  const auto found = item.values.find(sort);
  if (found == item.values.end()) return std::nullopt;
  const double* const number = std::get_if<double>(&found->second);
  if (number != nullptr && std::isnan(*number)) return std::nullopt;  // has no place among numbers
  return found->second;
}

bool is_built_in(const std::string& sort) {
  return sort.empty() || sort == "time" || sort == "name" || sort == "status";
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

}  // namespace

void add_list_options(CLI::App& command, ListChoice& choice) {
  command.add_option("--status", choice.statuses, "Only those that stand so: Completed,Failed")
      ->delimiter(',')
      ->type_name("STATUS");
  command.add_option("--name", choice.name, "Only those whose name has this pattern (PCRE2) in it")
      ->type_name("PATTERN");
  command.add_option("--since", choice.since, "Only those that began since then: 2h, 3d, 2026-11-20")
      ->type_name("TIME");
  command.add_option("--columns", choice.columns, "Hyper-parameters, labels and metrics to be shown: lr,loss")
      ->delimiter(',')
      ->type_name("NAME");
  command.add_option("--sort", choice.sort, "By name, status, time or one of these values (default: the newest first)")
      ->type_name("KEY");
  command.add_flag("--reverse", choice.reverse, "In the opposite order");
}

Result<std::vector<std::size_t>> choose(const std::vector<ListItem>& items, const ListChoice& choice,
                                        std::int64_t now_unix_ns) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const ListFilter filter, ListFilter::create(choice, now_unix_ns));
  for (const std::string& column : choice.columns) TRAINWARDEN_RETURN_IF_ERROR(check_column(items, column));
  if (!is_built_in(choice.sort)) TRAINWARDEN_RETURN_IF_ERROR(check_column(items, choice.sort));
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (filter.takes(items[i])) places.push_back(i);
  }
  sort_places(items, choice, places);
  return places;
}

std::string cell_text(const ListItem& item, const std::string& column) {
  const auto found = item.values.find(column);
  if (found == item.values.end()) return "";
  if (const double* const number = std::get_if<double>(&found->second)) return format_number(*number);
  return std::get<std::string>(found->second);
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

format::OrderedJson json_of(const std::map<std::string, ListValue>& values) {
  format::OrderedJson json = format::OrderedJson::object();
  for (const auto& [name, value] : values) {
    if (const double* const number = std::get_if<double>(&value)) {
      json[name] = format::json_number(*number);
    } else {
      json[name] = std::get<std::string>(value);
    }
  }
  return json;
}

}  // namespace trainwarden::cli
