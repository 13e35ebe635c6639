// --color: whether a picture has colours.
#pragma once

#include <string>

#include "ui/cli/commands/command.h"
#include "ui/cli/terminal/terminal.h"

namespace trainwarden::cli {

void add_color_option(CLI::App& command, std::string& color);
// Of standard output, as --color says: "auto", "always" or "never".
Terminal output_terminal(const std::string& color);

}  // namespace trainwarden::cli
