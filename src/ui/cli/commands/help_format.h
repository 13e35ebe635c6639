// HelpFormat: how `--help` shows options.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace trainwarden::cli {

// CLI11 shows "NAME ..." for an option that may be given several times, as if it took all the words that follow.
class HelpFormat : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override;
};

}  // namespace trainwarden::cli
