#include "server/route.h"

namespace trainwarden::server {

std::vector<Route> tensor_routes() {
  return {};
}

}  // namespace trainwarden::server
