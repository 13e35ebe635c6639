// Finds the run that a user means.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal.h"
#include "trainwarden/status.h"

namespace trainwarden::cli {

// The folder that holds the runs: what --runs said, else TRAINWARDEN_RUNS, else ./runs.
std::filesystem::path runs_folder(const std::string& option, const Environment& environment = process_environment);

// `text` is a path (it has a slash, or is itself a run) or the name of a run in `folder`. kNotFound names the nearest.
Result<std::filesystem::path> locate_run(const std::string& text, const std::filesystem::path& folder);

// Several at once, as a shell writes `runs/*`: plain files among them are no runs and nobody's mistake.
struct LocatedRuns {
  std::vector<std::filesystem::path> runs;
  std::vector<std::string> plain_files;  // were left out
};
// As locate_run() for the first that is neither a run nor left out; a plain file is left out beside runs only.
Result<LocatedRuns> locate_runs(const std::vector<std::string>& texts, const std::filesystem::path& folder);
// "2 plain files are no runs and were left out: first.log, second.log"; "" when none was.
std::string left_out_note(const LocatedRuns& located);

// The run's name for people: its folder's.
std::string run_name(const std::filesystem::path& run);

// How the user may name the run: by its name where `trainwarden` looks by itself, else by its path.
std::string typed_run(const std::filesystem::path& run, const Environment& environment = process_environment);

// This program, as the user typed it.
std::string typed_program();

// A name that is not yet taken in `folder`: "20261120-0501-fashion_mnist", then with "-2", "-3", ... after it.
// `command` is the program and its arguments; a script's name says more than its interpreter's.
std::string make_run_name(const std::filesystem::path& folder, const std::vector<std::string>& command,
                          std::int64_t unix_seconds);

}  // namespace trainwarden::cli
