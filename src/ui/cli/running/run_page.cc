#include "ui/cli/running/run_page.h"

#include <fmt/format.h>

#include "store/storage/location.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/terminal/output.h"

namespace trainwarden::cli {
namespace {

Result<std::unique_ptr<server::Server>> start(const std::filesystem::path& runs, int port) {
  const storage::Location place(runs);
  TRAINWARDEN_RETURN_IF_ERROR(place.storage().create_folder(""));  // the training does so later
  TRAINWARDEN_ASSIGN_OR_RETURN(auto shelf, views::Shelf::open(place));
  server::ServerOptions options;
  options.listener.port = static_cast<std::uint16_t>(port);
  return server::Server::start(std::move(shelf), options);
}

}  // namespace

std::unique_ptr<server::Server> open_run_page(const std::filesystem::path& run, int port) {
  auto server = start(std::filesystem::absolute(run).parent_path(), port);
  if (!server.ok()) {
    emit(stderr, "trainwarden: warning: there is no page: {}\n", server.status().message());
    return nullptr;
  }
  emit(stderr, "trainwarden: the page, until the program ends: {}\n", (*server)->link(run_name(run)));
  return *std::move(server);
}

}  // namespace trainwarden::cli
