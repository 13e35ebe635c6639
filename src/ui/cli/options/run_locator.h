// How runs, and this program, are written on the command line. What finds a run by its name is src/work/launch.
#pragma once

#include <filesystem>
#include <string>

#include "work/launch/run_naming.h"

namespace trainwarden::cli {

// Most commands need these.
using launch::locate_run;
using launch::locate_runs;
using launch::LocatedRuns;
using launch::make_run_name;
using launch::run_name;
using launch::runs_folder;

// "2 plain files are no runs and were left out: first.log, second.log"; "" when none was.
std::string left_out_note(const LocatedRuns& located);

// How the user may name the run: by its name where `trainwarden` looks by itself, else by its path.
std::string typed_run(const std::filesystem::path& run, const Environment& environment = process_environment);

// This program as the user may type it: by its name where PATH finds it, else as it was started.
std::string typed_program();

}  // namespace trainwarden::cli
