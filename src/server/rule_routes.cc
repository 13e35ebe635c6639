#include "server/route.h"

namespace trainwarden::server {

std::vector<Route> rule_routes() {
  return {};
}

}  // namespace trainwarden::server
