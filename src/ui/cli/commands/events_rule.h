// `trainwarden events rule`, in two files.
#pragma once

#include "ui/cli/commands/command.h"

namespace trainwarden::cli {

void add_events_rule(CLI::App& events, CommandAction& action);
void add_events_rule_test(CLI::App& rule, CommandAction& action);

}  // namespace trainwarden::cli
