// Route: what one address of the API answers. Knows nothing of sockets.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "trainwarden/status.h"
#include "ui/answers/services.h"
#include "ui/views/query.h"

namespace trainwarden::answers {

struct Request {
  std::map<std::string, std::string, std::less<>> path;  // what stood for {run}, {tensor}, ... in the route's path
  views::Query query;
  std::string body;  // of a POST: a JSON document

  const std::string& in_path(std::string_view name) const { return path.find(name)->second; }
};

struct Reply {
  std::string type = "application/json";
  std::shared_ptr<const std::string> body;
  // This address will never answer anything else: caches may keep it forever.
  bool immutable = false;
  std::string file_name;  // when not empty, a browser offers it as a file of this name
};

// From any thread, several at once. Errors become a JSON document {"error": {"code", "message"}} with the HTTP status
// that fits the code: kInvalidArgument 400, kPermissionDenied 403, kNotFound and kOutOfRange 404,
// kFailedPrecondition 409, kResourceExhausted 413, kUnimplemented 501, kUnavailable 503, kDeadlineExceeded 504, else
// 500.
using Handler = std::function<Result<Reply>(const Request& request, const Services& services)>;

enum class Method { kGet, kPost };

struct Route {
  Method method = Method::kGet;
  std::string path;  // below /api/v1: "/runs/{run}/series"
  Handler handler;
  bool acts = false;  // changes something outside: refused without --allow-actions
};

// Each area adds its own; docs/reference/api describes them, and a test compares the two.
std::vector<Route> run_routes();        // run_routes.cc: the list of runs, one run, its steps
std::vector<Route> series_routes();     // series_routes.cc: numbers over steps
std::vector<Route> layer_routes();      // layer_routes.cc: layers over steps
std::vector<Route> tensor_routes();     // tensor_routes.cc: tensors, statistics, histograms, values, pictures
std::vector<Route> attention_routes();  // attention_routes.cc
std::vector<Route> rule_routes();       // rule_routes.cc: rules, events, black boxes, what-if, stop, save
std::vector<Route> insight_routes();    // insight_routes.cc: confusion, comparison of runs
std::vector<Route> profile_routes();    // profile_routes.cc: where the time went
std::vector<Route> page_routes();       // page_routes.cc: a run as one file

// Routes to what a server shows beside the runs: "jobs". Their handlers bring what they need.
struct Area {
  std::string name;
  std::vector<Route> routes;
};

}  // namespace trainwarden::answers
