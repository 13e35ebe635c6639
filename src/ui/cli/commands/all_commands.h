// The sub-commands of `trainwarden`, in the order in which --help lists them.
#pragma once

#include "ui/cli/commands/command.h"

namespace trainwarden::cli {

void add_all_commands(CLI::App& app, CommandAction& action);

}  // namespace trainwarden::cli
