// print_routes: every route of the server as JSON, for the test that compares them with docs/reference/api.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ui/answers/router.h"
#include "ui/work_answers/work_desk.h"

int main() {
  trainwarden::work_answers::WorkDesk desk({"jobs", "catalogue", "experiments", "catalogue", "studies"},
                                           {});  // nothing is opened
  std::vector<trainwarden::answers::Route> routes_there = trainwarden::answers::all_routes();
  for (const auto& area : trainwarden::work_answers::work_areas(desk)) {
    routes_there.insert(routes_there.end(), area.routes.begin(), area.routes.end());
  }
  nlohmann::ordered_json routes = nlohmann::ordered_json::array();
  for (const auto& route : routes_there) {
    const char* method = route.method == trainwarden::answers::Method::kGet ? "get" : "post";
    routes.push_back({{"method", method}, {"path", route.path}, {"acts", route.acts}});
  }
  fmt::print("{}\n", routes.dump(1));
  return 0;
}
