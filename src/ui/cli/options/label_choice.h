// LabelChoice: the options of `run` that say with which words a run is recorded: --label and --env-params.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ui/cli/commands/command.h"
#include "ui/cli/terminal/terminal.h"

namespace trainwarden::cli {

struct LabelChoice {
  std::vector<std::string> labels;      // KEY=VALUE
  std::vector<std::string> env_params;  // names of variables of the environment

  // TRAINWARDEN_LABELS for the program: what the variable says already, the environment's values, the labels; the later
  // win. Empty when there is nothing to say. kInvalidArgument with what is wrong and how it is written.
  Result<std::map<std::string, std::string>> variables(const Environment& environment) const;
};

// The labels that a program started with `variables` beside `environment` is recorded with, without secrets.
// kInvalidArgument when TRAINWARDEN_LABELS is no object of texts.
Result<std::map<std::string, std::string>> recorded_labels(const std::map<std::string, std::string>& variables,
                                                           const Environment& environment);

void add_label_options(CLI::App& command, LabelChoice& choice);

}  // namespace trainwarden::cli
