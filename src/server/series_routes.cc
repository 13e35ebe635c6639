#include "server/route.h"

namespace trainwarden::server {

std::vector<Route> series_routes() {
  return {};
}

}  // namespace trainwarden::server
