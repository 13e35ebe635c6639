// Options that lists of jobs and of runs share, and their columns on a terminal.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "ui/cli/terminal/json_out.h"
#include "work/catalogue/list_choice.h"

namespace trainwarden::cli {

using catalogue::ListChoice;
using catalogue::ListItem;

inline constexpr const char* kUnreadable = "unreadable";  // stands for a status

// --status, --name, --since, --filter, --columns, --sort, --reverse.
void add_list_options(CLI::App& command, ListChoice& choice);

// "" when the item has no such value.
std::string cell_text(const ListItem& item, const std::string& column);
// The columns that were asked for, each with its value or null.
OrderedJson column_json(const ListItem& item, const std::vector<std::string>& columns);

}  // namespace trainwarden::cli
