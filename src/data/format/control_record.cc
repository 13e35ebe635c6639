#include "data/format/control_record.h"

#include <fmt/format.h>

#include "core/base/secret_mask.h"
#include "data/format/parse_json.h"
#include "data/format/request_id.h"

namespace trainwarden::format {
namespace {

// Requests for the black box and for a checkpoint say the same things under different types.
template <class Request>
std::string encode_about_step(const char* type, const Request& request) {
  return dump_json({{"type", type},
                    {"key", request.key},
                    {"reason", mask_secrets(request.reason)},
                    {"rule", request.rule},
                    {"global_step", request.global_step},
                    {"requested_by", request.requested_by},
                    {"unix_ns", request.unix_ns}}) +
         "\n";
}

template <class Request>
Result<Request> decode_about_step(const char* wanted_type, const char* what, std::string_view text) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, parse_json_object(text, what));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string type, string_field(json, "type"));
  if (type != wanted_type) return Status(Code::kDataLoss, fmt::format("{}: unknown type \"{}\"", what, type));
  Request request;
  TRAINWARDEN_ASSIGN_OR_RETURN(request.key, string_field(json, "key"));
  TRAINWARDEN_ASSIGN_OR_RETURN(request.reason, string_field(json, "reason"));
  TRAINWARDEN_ASSIGN_OR_RETURN(request.rule, string_field(json, "rule"));
  TRAINWARDEN_ASSIGN_OR_RETURN(request.global_step, int_field(json, "global_step", -1));
  TRAINWARDEN_ASSIGN_OR_RETURN(request.requested_by, string_field(json, "requested_by"));
  TRAINWARDEN_ASSIGN_OR_RETURN(request.unix_ns, int_field(json, "unix_ns"));
  return request;
}

}  // namespace

std::string profile_request_path(std::string_view key) {
  return path_of({RequestKind::kProfile, std::string(key)});
}
bool is_profile_request_file(std::string_view file_name) {
  return is_request_file(RequestKind::kProfile, file_name);
}
std::string examine_request_path(std::string_view key) {
  return path_of({RequestKind::kExamine, std::string(key)});
}
bool is_examine_request_file(std::string_view file_name) {
  return is_request_file(RequestKind::kExamine, file_name);
}
std::string checkpoint_request_path(std::string_view key) {
  return path_of({RequestKind::kCheckpoint, std::string(key)});
}
bool is_checkpoint_request_file(std::string_view file_name) {
  return is_request_file(RequestKind::kCheckpoint, file_name);
}
std::string black_box_request_path(std::string_view key) {
  return path_of({RequestKind::kBlackBox, std::string(key)});
}
bool is_black_box_request_file(std::string_view file_name) {
  return is_request_file(RequestKind::kBlackBox, file_name);
}
std::string capture_request_path(std::string_view key) {
  return path_of({RequestKind::kCapture, std::string(key)});
}
std::string stop_request_path(std::string_view key) {
  return path_of({RequestKind::kStop, std::string(key)});
}
bool is_capture_request_file(std::string_view file_name) {
  return is_request_file(RequestKind::kCapture, file_name);
}
bool is_stop_request_file(std::string_view file_name) {
  return is_request_file(RequestKind::kStop, file_name);
}

std::string encode_capture_request(const CaptureRequest& request) {
  return dump_json({{"type", "capture"},
                    {"key", request.key},
                    {"options", parse_ordered_json(request.options, "options").value_or({})},
                    {"exclude_collections", request.exclude_collections},
                    {"only", request.only},
                    {"reset", request.reset},
                    {"requested_by", request.requested_by},
                    {"unix_ns", request.unix_ns}}) +
         "\n";
}

Result<CaptureRequest> decode_capture_request(std::string_view text) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, parse_json_object(text, "capture request"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string type, string_field(json, "type"));
  if (type != "capture") return Status(Code::kDataLoss, fmt::format("capture request: unknown type \"{}\"", type));
  CaptureRequest request;
  TRAINWARDEN_ASSIGN_OR_RETURN(request.key, string_field(json, "key"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* options, object_field(json, "options"));
  request.options = options->dump(-1, ' ', false, Json::error_handler_t::replace);
  TRAINWARDEN_ASSIGN_OR_RETURN(request.exclude_collections, strings_field(json, "exclude_collections"));
  TRAINWARDEN_ASSIGN_OR_RETURN(request.only, bool_field(json, "only"));
  TRAINWARDEN_ASSIGN_OR_RETURN(request.reset, bool_field(json, "reset"));
  TRAINWARDEN_ASSIGN_OR_RETURN(request.requested_by, string_field(json, "requested_by"));
  TRAINWARDEN_ASSIGN_OR_RETURN(request.unix_ns, int_field(json, "unix_ns"));
  return request;
}

std::string encode_black_box_request(const BlackBoxRequest& request) {
  return encode_about_step("black_box", request);
}
Result<BlackBoxRequest> decode_black_box_request(std::string_view text) {
  return decode_about_step<BlackBoxRequest>("black_box", "request for the black box", text);
}

std::string encode_checkpoint_request(const CheckpointRequestRecord& request) {
  return encode_about_step("checkpoint", request);
}
Result<CheckpointRequestRecord> decode_checkpoint_request(std::string_view text) {
  return decode_about_step<CheckpointRequestRecord>("checkpoint", "request for a checkpoint", text);
}

std::string encode_profile_request(const ProfileRequest& request) {
  return dump_json({{"type", "profile"},
                    {"key", request.key},
                    {"first_step", request.first_step},
                    {"steps", request.steps},
                    {"requested_by", request.requested_by},
                    {"unix_ns", request.unix_ns}}) +
         "\n";
}

Result<ProfileRequest> decode_profile_request(std::string_view text) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, parse_json_object(text, "profile request"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string type, string_field(json, "type"));
  if (type != "profile") return Status(Code::kDataLoss, fmt::format("profile request: unknown type \"{}\"", type));
  ProfileRequest request;
  TRAINWARDEN_ASSIGN_OR_RETURN(request.key, string_field(json, "key"));
  TRAINWARDEN_ASSIGN_OR_RETURN(request.first_step, int_field(json, "first_step", -1));
  TRAINWARDEN_ASSIGN_OR_RETURN(request.steps, int_field(json, "steps", 1));
  TRAINWARDEN_ASSIGN_OR_RETURN(request.requested_by, string_field(json, "requested_by"));
  TRAINWARDEN_ASSIGN_OR_RETURN(request.unix_ns, int_field(json, "unix_ns"));
  if (request.steps <= kMaxProfileSteps) return request;
  return Status(Code::kDataLoss,
                fmt::format("profile request: {} steps are more than {}", request.steps, kMaxProfileSteps));
}

std::string encode_examine_request(const ExamineRequest& request) {
  return dump_json({{"type", "examine"},
                    {"key", request.key},
                    {"reason", mask_secrets(request.reason)},
                    {"steps", request.steps},
                    {"requested_by", request.requested_by},
                    {"unix_ns", request.unix_ns}}) +
         "\n";
}

Result<ExamineRequest> decode_examine_request(std::string_view text) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, parse_json_object(text, "examine request"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string type, string_field(json, "type"));
  if (type != "examine") return Status(Code::kDataLoss, fmt::format("examine request: unknown type \"{}\"", type));
  ExamineRequest request;
  TRAINWARDEN_ASSIGN_OR_RETURN(request.key, string_field(json, "key"));
  TRAINWARDEN_ASSIGN_OR_RETURN(request.reason, string_field(json, "reason"));
  TRAINWARDEN_ASSIGN_OR_RETURN(request.steps, int_field(json, "steps", 1));
  TRAINWARDEN_ASSIGN_OR_RETURN(request.requested_by, string_field(json, "requested_by"));
  TRAINWARDEN_ASSIGN_OR_RETURN(request.unix_ns, int_field(json, "unix_ns"));
  if (request.steps <= kMaxExamineSteps) return request;
  return Status(Code::kDataLoss,
                fmt::format("examine request: {} steps are more than {}", request.steps, kMaxExamineSteps));
}

std::string encode_stop_request(const StopRequest& request) {
  return dump_json({{"type", "stop"},
                    {"key", request.key},
                    {"reason", mask_secrets(request.reason)},
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
