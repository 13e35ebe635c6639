// The commands that look after what runs have left: what it weighs, whether it is whole, what can be saved of it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "read/upkeep/journal_copy.h"
#include "trainwarden/status.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/terminal/json_out.h"

namespace trainwarden::cli {

// Each adds its sub-command to `app`; parsing it sets `action`.
void add_du(CLI::App& app, CommandAction& action);
void add_verify(CLI::App& app, CommandAction& action);
void add_recover(CLI::App& app, CommandAction& action);
void add_merge(CLI::App& app, CommandAction& action);
void add_diff(CLI::App& app, CommandAction& action);
void add_cat(CLI::App& app, CommandAction& action);
void add_tail(CLI::App& app, CommandAction& action);

inline constexpr const char* kUpkeepGroup = "Look after runs";

// Several runs as the user names them; without a name all that the folder holds.
struct RunsChoice {
  std::vector<std::string> runs;
  std::string folder;
  // The errors of locate_runs(); kNotFound for a folder without runs when none was named.
  Result<std::vector<std::filesystem::path>> locate() const;
};
void add_runs_choice(CLI::App& command, RunsChoice& choice);

// Where a new run is to lie: a path when it has a slash, else a name in the folder of runs.
std::filesystem::path new_run_path(const std::string& text, const std::string& folder);

// What a copy lacks or had to make again, a row each.
OrderedJson json_of_copy_notes(const std::vector<upkeep::CopyNote>& notes);
void print_copy_notes(const std::vector<upkeep::CopyNote>& notes);

}  // namespace trainwarden::cli
