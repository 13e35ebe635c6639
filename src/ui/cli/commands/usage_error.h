// What is wrong with a command line, in words that name what was typed.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace trainwarden::cli {

// The sub-command that was being parsed, as the user would type it: "trainwarden events deliver".
std::string typed_command(const CLI::App& app);

// `words` are the arguments behind the program's name, `error` is what came of parsing them. An option that the command
// does not have is named with the nearest that it has, whatever else went wrong because of it.
std::string explain_usage(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& words);

}  // namespace trainwarden::cli
