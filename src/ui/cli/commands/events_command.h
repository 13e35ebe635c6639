// The sub-commands of `trainwarden events`, a file each.
#pragma once

#include <CLI/CLI.hpp>

#include "ui/cli/commands/command.h"

namespace trainwarden::cli {

// Each adds one sub-command to `events`; parsing it sets `action`.
void add_events_deliveries(CLI::App& events, CommandAction& action);
void add_events_deliver(CLI::App& events, CommandAction& action);
void add_events_redrive(CLI::App& events, CommandAction& action);
void add_events_drop(CLI::App& events, CommandAction& action);

}  // namespace trainwarden::cli
