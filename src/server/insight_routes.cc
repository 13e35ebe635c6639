#include "server/route.h"

namespace trainwarden::server {

std::vector<Route> insight_routes() {
  return {};
}

}  // namespace trainwarden::server
