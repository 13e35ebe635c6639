// `trainwarden events test-pattern`: whether a pattern matches an event.
#pragma once

#include <CLI/CLI.hpp>

#include "ui/cli/commands/command.h"

namespace trainwarden::cli {

// Adds it to `events`; parsing it sets `action`.
void add_events_test_pattern(CLI::App& events, CommandAction& action);

}  // namespace trainwarden::cli
