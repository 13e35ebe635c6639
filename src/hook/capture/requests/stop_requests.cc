#include "hook/capture/requests/stop_requests.h"

#include <utility>

#include "data/format/json.h"

namespace trainwarden::capture {
namespace {

constexpr const char* kStopAcceptedType = "stop_accepted";

Result<std::string> accepted_key(std::string_view event) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const format::Json json, format::parse_json_object(event, "event"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string type, format::string_field(json, "type"));
  if (type != kStopAcceptedType) return Status(Code::kNotFound, "another event");
  return format::string_field(json, "key");
}

}  // namespace

StopRequests::StopRequests(std::shared_ptr<const storage::Storage> storage, std::set<std::string> accepted_keys,
                           std::string run_id)
    : folder_(std::move(storage), std::move(run_id), format::is_stop_request_file),
      accepted_keys_(std::move(accepted_keys)) {}

std::vector<format::StopRequest> StopRequests::poll() {
  auto requests = folder_.read_new<format::StopRequest>(
      [](std::string_view text, std::string_view) { return format::decode_stop_request(text); });
  std::erase_if(requests,
                [this](const format::StopRequest& request) { return !accepted_keys_.insert(request.key).second; });
  return requests;
}

std::string encode_stop_accepted(const format::StopRequest& request, std::int64_t global_step) {
  return format::dump_json({{"type", kStopAcceptedType},
                            {"key", request.key},
                            {"reason", request.reason},
                            {"requested_by", request.requested_by},
                            {"global_step", global_step}});
}

std::set<std::string> accepted_stop_keys(std::span<const journal::EventEntry> events) {
  std::set<std::string> keys;
  for (const journal::EventEntry& event : events) {
    if (event.kind != format::FrameKind::kEvent) continue;
    if (auto key = accepted_key(event.json); key.ok()) keys.insert(*std::move(key));
  }
  return keys;
}

}  // namespace trainwarden::capture
