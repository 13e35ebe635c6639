#include "server/route.h"

namespace trainwarden::server {

std::vector<Route> attention_routes() {
  return {};
}

}  // namespace trainwarden::server
