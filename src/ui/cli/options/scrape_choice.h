// ScrapeChoice: the options that say where Prometheus may scrape.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trainwarden/status.h"
#include "ui/cli/commands/command.h"

namespace trainwarden::cli {

struct ScrapePlace {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;
  bool loopback = true;
};

struct ScrapeChoice {
  std::string place;  // as it was typed; empty: nowhere
  bool allow_remote = false;

  // Nothing: nowhere. kInvalidArgument: no place, or one that others can reach and that is not permitted.
  Result<std::optional<ScrapePlace>> parse() const;
};

void add_scrape_options(CLI::App& command, ScrapeChoice& choice);

}  // namespace trainwarden::cli
