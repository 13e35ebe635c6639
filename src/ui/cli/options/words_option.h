// Options and arguments that take several words.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace trainwarden::cli {

// An option ("--rule") takes one word each time it is given, an argument ("PROGRAM") all that are left. Each word comes
// as it was typed: CLI11 would make two of "[64,32]" and none of "{}" where it fills a vector itself.
CLI::Option* add_words(CLI::App& command, const std::string& name, std::vector<std::string>& words,
                       const std::string& description);

}  // namespace trainwarden::cli
