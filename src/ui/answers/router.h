// Router: from a method and an address to the route that answers, and to what the address says.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ui/answers/route.h"

namespace trainwarden::answers {

// "a=1&b=2". kInvalidArgument also for a parameter that is there twice: which one would be meant?
Result<views::Query> parse_query(std::string_view text);

struct RouteMatch {
  const Route* route = nullptr;
  Request request;  // path and query
};

class Router {
 public:
  explicit Router(std::vector<Route> routes);

  // `address` below /api/v1, still escaped: "/runs/1f/series". kNotFound for an address that nothing answers,
  // kUnimplemented for one that other methods answer, kInvalidArgument.
  Result<RouteMatch> match(Method method, std::string_view address, std::string_view query) const;
  const std::vector<Route>& routes() const { return routes_; }

 private:
  std::vector<Route> routes_;
};

// Of all areas.
std::vector<Route> all_routes();

}  // namespace trainwarden::answers
