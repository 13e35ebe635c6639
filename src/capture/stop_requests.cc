#include "capture/stop_requests.h"

#include <utility>

#include <fmt/format.h>

#include "base/log.h"
#include "format/json.h"

namespace trainwarden::capture {
namespace {

constexpr const char* kStopAcceptedType = "stop_accepted";
constexpr std::uint64_t kMaxRequestBytes = 1 << 20;

Result<std::string> accepted_key(std::string_view event) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const format::Json json, format::parse_json_object(event, "event"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string type, format::string_field(json, "type"));
  if (type != kStopAcceptedType) return Status(Code::kNotFound, "another event");
  return format::string_field(json, "key");
}

}  // namespace

StopRequests::StopRequests(std::shared_ptr<const storage::Storage> storage, std::set<std::string> accepted_keys)
    : storage_(std::move(storage)), accepted_keys_(std::move(accepted_keys)) {}

std::vector<format::StopRequest> StopRequests::poll() {
  std::vector<format::StopRequest> requests;
  if (storage_ == nullptr) return requests;
  const auto files = storage_->list(format::kControlFolder);
  if (!files.ok()) return requests;  // there is no such folder until somebody asks for something
  for (const std::string& file : *files) {
    if (!format::is_stop_request_file(file) || seen_files_.contains(file)) continue;
    const std::string path = fmt::format("{}/{}", format::kControlFolder, file);
    const auto text = storage_->read(path, kMaxRequestBytes);
    if (!text.ok() && text.status().code() == Code::kUnavailable) continue;  // asked again at the next poll
    seen_files_.insert(file);
    auto request = text.ok() ? format::decode_stop_request(*text) : Result<format::StopRequest>(text.status());
    if (!request.ok()) {
      log(LogLevel::kWarning, "{} asks for nothing that can be understood: {}", path, request.status().to_string());
    } else if (accepted_keys_.insert(request->key).second) {
      requests.push_back(*std::move(request));
    }
  }
  return requests;
}

std::string encode_stop_accepted(const format::StopRequest& request, std::int64_t global_step) {
  return format::dump_json({{"type", kStopAcceptedType},
                            {"key", request.key},
                            {"reason", request.reason},
                            {"requested_by", request.requested_by},
                            {"global_step", global_step}});
}

std::set<std::string> accepted_stop_keys(std::span<const store::EventEntry> events) {
  std::set<std::string> keys;
  for (const store::EventEntry& event : events) {
    if (event.kind != format::FrameKind::kEvent) continue;
    if (auto key = accepted_key(event.json); key.ok()) keys.insert(*std::move(key));
  }
  return keys;
}

}  // namespace trainwarden::capture
