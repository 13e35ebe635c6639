#include "data/format/run_event.h"

#include <fmt/format.h>

#include "core/base/secret_mask.h"
#include "data/format/json.h"

namespace trainwarden::format {
namespace {

constexpr const char* kRunEndType = "run_end";
constexpr const char* kRunResumeType = "run_resume";
constexpr const char* kCompleted = "completed";
constexpr const char* kStopped = "stopped";

}  // namespace

std::string encode_run_end(const RunEndEvent& event) {
  return dump_json({{"type", kRunEndType},
                    {"state", event.stopped ? kStopped : kCompleted},
                    {"reason", mask_secrets(event.reason)}});
}

std::string encode_run_resume() {
  return dump_json({{"type", kRunResumeType}});
}

bool is_run_resume(std::string_view text) {
  const Result<std::string> type = event_type(text);
  return type.ok() && *type == kRunResumeType;
}

Result<std::string> event_type(std::string_view text) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, parse_json_object(text, "event"));
  return string_field(json, "type");
}

Result<std::optional<RunEndEvent>> decode_run_end(std::string_view text) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, parse_json_object(text, "event"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string type, string_field(json, "type"));
  if (type != kRunEndType) return std::optional<RunEndEvent>();
  RunEndEvent event;
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string state, string_field(json, "state"));
  if (state != kCompleted && state != kStopped) {
    return Status(Code::kDataLoss, fmt::format("run end: field \"state\": unknown state \"{}\"", state));
  }
  event.stopped = state == kStopped;
  TRAINWARDEN_ASSIGN_OR_RETURN(event.reason, string_field(json, "reason"));
  return std::optional(std::move(event));
}

}  // namespace trainwarden::format
