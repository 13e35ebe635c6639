// EventScope: whose events are meant: a run's, or those of all jobs of a folder.
#pragma once

#include <filesystem>
#include <string>

#include <CLI/CLI.hpp>

#include "trainwarden/status.h"
#include "ui/cli/terminal/json_out.h"

namespace trainwarden::cli {

struct EventScope {
  std::string run;   // its name or path
  std::string runs;  // the folder that holds the runs
  bool all_jobs = false;
  std::string jobs;  // the folder that holds the jobs

  // The run, or what is laid out as one: the folder with the events of all jobs. kNotFound when it is not there,
  // kInvalidArgument when neither or both are named.
  Result<std::filesystem::path> locate() const;
  // What comes first in documents for programs: {"run": "first"}, {"jobs": "/work/jobs"}. `found`: by locate().
  OrderedJson head(const std::filesystem::path& found) const;
  std::string typed() const;  // as it was named, for messages and for the next command: "first", "--all-jobs"
};

void add_event_scope(CLI::App& command, EventScope& place);

}  // namespace trainwarden::cli
