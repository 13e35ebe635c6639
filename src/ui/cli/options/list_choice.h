// Which entries of a list are shown, in which order, with which columns: options that lists of jobs, runs and
// experiments share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include <CLI/CLI.hpp>

#include "data/format/json.h"
#include "trainwarden/status.h"

namespace trainwarden::cli {

using ListValue = std::variant<double, std::string>;

struct ListItem {
  std::string name;
  std::vector<std::string> statuses;  // words that --status may name
  std::string experiment;
  std::int64_t unix_ns = 0;                 // when it began
  std::map<std::string, ListValue> values;  // hyper-parameters, labels, metrics
};

struct ListChoice {
  std::vector<std::string> statuses;
  std::string name;  // a pattern
  std::string experiment;
  std::string since;
  std::vector<std::string> columns;
  std::string sort;
  bool reverse = false;
};

// --status, --name, --since, --columns, --sort, --reverse.
void add_list_options(CLI::App& command, ListChoice& choice);

// The places of those items that are shown, in their order. Without --sort the newest come first; by a column the
// smallest, numbers before texts; what has no such value comes last in any case. kInvalidArgument for a pattern or a
// time that is none, and for a column that no item has.
Result<std::vector<std::size_t>> choose(const std::vector<ListItem>& items, const ListChoice& choice,
                                        std::int64_t now_unix_ns);

// "" when the item has no such value.
std::string cell_text(const ListItem& item, const std::string& column);

// The fields of a JSON object that are numbers or texts; of an empty text none.
std::map<std::string, ListValue> list_values(const std::string& json);
format::OrderedJson json_of(const std::map<std::string, ListValue>& values);

}  // namespace trainwarden::cli
