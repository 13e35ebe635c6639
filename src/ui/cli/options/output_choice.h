// OutputChoice: the options of `run` that say where a program prints, and which metrics are found there.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trainwarden/status.h"
#include "ui/cli/commands/command.h"
#include "work/log_metrics/definition.h"

namespace trainwarden::cli {

struct OutputChoice {
  std::string log;
  std::string metrics;       // a file
  std::string metric_texts;  // the same as a text, for who starts us
  bool of_job = false;       // we are part of a job: its log is read (of several ranks that of rank 0), and we print
                             // into it ourselves

  // The file that the program prints into; empty: none that is read. kFailedPrecondition when it is to be a job's and
  // there is none.
  Result<std::filesystem::path> file() const;
  // None: the styles of libraries. The errors of log_metrics::read_definition_file().
  Result<std::optional<log_metrics::DefinitionSet>> definitions() const;
};

void add_output_options(CLI::App& command, OutputChoice& choice);

// The words of a command line that say the same again.
std::vector<std::string> words_of_job_metrics(const log_metrics::DefinitionSet& definitions);

}  // namespace trainwarden::cli
