#include "ui/cli/terminal/color_option.h"

#include <cstdio>

namespace trainwarden::cli {

void add_color_option(CLI::App& command, std::string& color) {
  command.add_option("--color", color, "Colours in the picture (default: auto, on a terminal)")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}));
}

Terminal output_terminal(const std::string& color) {
  Terminal terminal = terminal_of(stdout);
  if (color == "never") terminal.colors = ColorDepth::kNone;
  if (color == "always") {
    terminal.unicode = true;
    if (terminal.colors == ColorDepth::kNone) terminal.colors = ColorDepth::kTrueColor;
  }
  return terminal;
}

}  // namespace trainwarden::cli
