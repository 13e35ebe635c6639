// print_routes: every route of the server as JSON, for the test that compares them with docs/reference/api.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ui/answers/router.h"

int main() {
  nlohmann::ordered_json routes = nlohmann::ordered_json::array();
  for (const auto& route : trainwarden::answers::all_routes()) {
    const char* method = route.method == trainwarden::answers::Method::kGet ? "get" : "post";
    routes.push_back({{"method", method}, {"path", route.path}, {"acts", route.acts}});
  }
  fmt::print("{}\n", routes.dump(1));
  return 0;
}
