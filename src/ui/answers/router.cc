#include "ui/answers/router.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "ui/answers/percent.h"

namespace trainwarden::answers {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool is_name(std::string_view segment) {
  return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}

// What stands for the {names} of `pattern`, nothing when the address is another one.
std::optional<std::map<std::string, std::string, std::less<>>> names_in(const std::vector<std::string_view>& pattern,
                                                                        const std::vector<std::string>& address) {
  if (pattern.size() != address.size()) return std::nullopt;
  std::map<std::string, std::string, std::less<>> names;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (is_name(pattern[i])) {
      if (address[i].empty()) return std::nullopt;
      names.emplace(pattern[i].substr(1, pattern[i].size() - 2), address[i]);
    } else if (pattern[i] != address[i]) {
      return std::nullopt;
    }
  }
  return names;
}

// Words before names: "/runs/{run}/tensors/all" is asked before "/runs/{run}/tensors/{tensor}".
bool is_more_exact(const Route& a, const Route& b) {
  return std::count(a.path.begin(), a.path.end(), '{') < std::count(b.path.begin(), b.path.end(), '{');
}

}  // namespace

Result<views::Query> parse_query(std::string_view text) {
  views::Query::Parameters parameters;
  for (const std::string_view part : split(text, '&')) {
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    TRAINWARDEN_ASSIGN_OR_RETURN(std::string name, decode_percent(part.substr(0, equals), true));
    std::string value;
    if (equals != std::string_view::npos) {
      TRAINWARDEN_ASSIGN_OR_RETURN(value, decode_percent(part.substr(equals + 1), true));
    }
    const bool added = parameters.emplace(name, std::move(value)).second;
    if (added) continue;
    return Status(Code::kInvalidArgument, fmt::format("the parameter \"{}\" is there twice", printable(name)));
  }
  return views::Query(std::move(parameters));
}

Router::Router(std::vector<Route> routes) : routes_(std::move(routes)) {
  std::stable_sort(routes_.begin(), routes_.end(), is_more_exact);
}

Result<RouteMatch> Router::match(Method method, std::string_view address, std::string_view query) const {
  std::vector<std::string> segments;
  for (const std::string_view segment : split(address, '/')) {
    TRAINWARDEN_ASSIGN_OR_RETURN(std::string decoded, decode_percent(segment, false));
    segments.push_back(std::move(decoded));
  }
  bool other_method = false;
  for (const Route& route : routes_) {
    auto names = names_in(split(route.path, '/'), segments);
    if (!names) continue;
    if (route.method != method) {
      other_method = true;
      continue;
    }
    RouteMatch match{.route = &route};
    match.request.path = *std::move(names);
    TRAINWARDEN_ASSIGN_OR_RETURN(match.request.query, parse_query(query));
    return match;
  }
  if (other_method) {
    return Status(Code::kUnimplemented, fmt::format("/api/v1{} answers the other one of GET and POST only",
                                                    printable(address.substr(0, 200))));
  }
  return Status(Code::kNotFound, fmt::format("there is no address /api/v1{}; docs/reference/api lists all",
                                             printable(address.substr(0, 200))));
}

std::vector<Route> all_routes() {
  std::vector<Route> routes;
  for (const auto& area : {run_routes(), series_routes(), layer_routes(), tensor_routes(), attention_routes(),
                           rule_routes(), insight_routes(), profile_routes(), page_routes()}) {
    routes.insert(routes.end(), area.begin(), area.end());
  }
  return routes;
}

}  // namespace trainwarden::answers
