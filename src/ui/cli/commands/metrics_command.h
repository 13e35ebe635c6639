// The sub-commands of `trainwarden metrics` that have a file of their own.
#pragma once

#include <CLI/CLI.hpp>

#include "ui/cli/commands/command.h"

namespace trainwarden::cli {

// Adds `metrics show`; parsing it sets `action`.
void add_metrics_show(CLI::App& metrics, CommandAction& action);

}  // namespace trainwarden::cli
