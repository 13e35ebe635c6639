// `trainwarden attn`, declared apart: it brings nothing that other commands would have to be compiled for.
#pragma once

#include "ui/cli/commands/command.h"

namespace trainwarden::cli {

void add_attn(CLI::App& app, CommandAction& action);

}  // namespace trainwarden::cli
