// Runs by name: which folder holds them, which one is meant, and what a new one is called.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/environment.h"
#include "trainwarden/status.h"

namespace trainwarden::launch {

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

// The run's name for people: its folder's.
std::string run_name(const std::filesystem::path& run);

// A name that is not yet taken in `folder`: "20261120-0501-fashion_mnist", then with "-2", "-3", ... after it. It is
// this process's until that ends: programs that start at the same time get names of their own. `command` is the program
// and its arguments; a script's name says more than its interpreter's.
std::string make_run_name(const std::filesystem::path& folder, const std::vector<std::string>& command,
                          std::int64_t unix_seconds);

struct RunWish {
  std::filesystem::path folder;  // of runs
  std::string name;              // empty: one that make_run_name() makes
  std::vector<std::string> command;
  std::int64_t unix_seconds = 0;
  bool resume = false;  // a finished run is to be gone on with
};

// Where a run is to lie. kInvalidArgument for a name that is no folder's, kAlreadyExists for one of a finished run that
// is not to be resumed; a run that was cut off may always be gone on with.
Result<std::filesystem::path> choose_run(const RunWish& wish);

}  // namespace trainwarden::launch
