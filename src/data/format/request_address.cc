#include "data/format/request_address.h"

#include <fmt/format.h>

#include "data/format/json.h"

namespace trainwarden::format {
namespace {

constexpr const char* kRun = "run";
constexpr std::size_t kMaxShownBytes = 200;

// What two requests for the same may differ in.
constexpr const char* kTold[] = {"reason", "requested_by", "unix_ns"};

std::string excerpt(std::string_view text) {
  std::string shown(text.substr(0, kMaxShownBytes));
  return text.size() > kMaxShownBytes ? shown + "..." : shown;
}

// Whether it says which run it is meant for; where it does not, each run takes it (check_address).
bool names_run(const Json& request) {
  const auto run = request.find(kRun);
  return run != request.end() && *run != "";
}

Json what_is_asked(Json request) {
  for (const char* field : kTold) request.erase(field);
  return request;
}

}  // namespace

std::string address_request(std::string_view request, std::string_view run_id) {
  OrderedJson json = OrderedJson::parse(request, nullptr, false);
  if (!json.is_object()) return std::string(request);
  json[kRun] = run_id;
  return dump_json(json) + "\n";
}

Status check_address(std::string_view request, std::string_view run_id) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, parse_json_object(request, "request"));
  if (!json.contains(kRun)) return {};
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string meant, string_field(json, kRun));
  if (meant.empty() || run_id.empty() || meant == run_id) return {};
  return Status(Code::kFailedPrecondition,
                fmt::format("it is meant for the run {}, and this is the run {}", excerpt(meant), run_id));
}

Status check_same_request(std::string_view wanted, std::string_view there) {
  TRAINWARDEN_ASSIGN_OR_RETURN(Json mine, parse_json_object(wanted, "request"));
  Result<Json> other = parse_json_object(there, "request");
  if (other.ok()) {
    if (!names_run(mine) || !names_run(*other)) {
      mine.erase(kRun);
      other->erase(kRun);
    }
    if (what_is_asked(std::move(mine)) == what_is_asked(*std::move(other))) return {};
  }
  return Status(Code::kAlreadyExists,
                fmt::format("expected the request {}, found {}", excerpt(wanted), excerpt(there)));
}

}  // namespace trainwarden::format
