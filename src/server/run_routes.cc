#include "server/route.h"

namespace trainwarden::server {

std::vector<Route> run_routes() {
  return {};
}

}  // namespace trainwarden::server
