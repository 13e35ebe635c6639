// The sub-commands of `trainwarden experiment`, a file or two each.
#pragma once

#include <CLI/CLI.hpp>

#include "ui/cli/commands/command.h"

namespace trainwarden::cli {

// Each adds its sub-command to `experiment`; parsing it sets `action`.
void add_experiment_create(CLI::App& experiment, CommandAction& action);
void add_experiment_log(CLI::App& experiment, CommandAction& action);
void add_experiment_associate(CLI::App& experiment, CommandAction& action);  // in lineage.cc
void add_experiment_rm(CLI::App& experiment, CommandAction& action);
void add_experiment_ls(CLI::App& experiment, CommandAction& action);
void add_experiment_show(CLI::App& experiment, CommandAction& action);
void add_experiment_search(CLI::App& experiment, CommandAction& action);
void add_experiment_analytics(CLI::App& experiment, CommandAction& action);

}  // namespace trainwarden::cli
