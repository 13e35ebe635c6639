#include "format/control_record.h"

#include <fmt/format.h>

#include "format/json.h"

namespace trainwarden::format {
namespace {

constexpr std::string_view kStopPrefix = "stop-";
constexpr std::string_view kStopSuffix = ".json";

}  // namespace

std::string stop_request_path(std::string_view key) {
  return fmt::format("{}/{}{}{}", kControlFolder, kStopPrefix, key, kStopSuffix);
}

bool is_stop_request_file(std::string_view file_name) {
  return file_name.starts_with(kStopPrefix) && file_name.ends_with(kStopSuffix) &&
         file_name.size() > kStopPrefix.size() + kStopSuffix.size();
}

std::string encode_stop_request(const StopRequest& request) {
  return dump_json({{"type", "stop"},
                    {"key", request.key},
                    {"reason", request.reason},
                    {"requested_by", request.requested_by},
                    {"unix_ns", request.unix_ns}}) +
         "\n";
}

Result<StopRequest> decode_stop_request(std::string_view text) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, parse_json_object(text, "stop request"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string type, string_field(json, "type"));
  if (type != "stop") return Status(Code::kDataLoss, fmt::format("stop request: unknown type \"{}\"", type));
  StopRequest request;
  TRAINWARDEN_ASSIGN_OR_RETURN(request.key, string_field(json, "key"));
  TRAINWARDEN_ASSIGN_OR_RETURN(request.reason, string_field(json, "reason"));
  TRAINWARDEN_ASSIGN_OR_RETURN(request.requested_by, string_field(json, "requested_by"));
  TRAINWARDEN_ASSIGN_OR_RETURN(request.unix_ns, int_field(json, "unix_ns"));
  return request;
}

}  // namespace trainwarden::format
