// RunPage: the page of a run, served beside its training.
#pragma once

#include <filesystem>
#include <memory>

#include "ui/server/server.h"

namespace trainwarden::cli {

// Serves the folder of runs that `run` is to appear in, and prints the link to it on standard error. A page that cannot
// be served is no reason not to train: a warning says why, and nothing is returned. Call it while the signals are
// relayed.
std::unique_ptr<server::Server> open_run_page(const std::filesystem::path& run, int port);

}  // namespace trainwarden::cli
