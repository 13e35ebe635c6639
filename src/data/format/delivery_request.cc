#include "data/format/delivery_request.h"

#include <fmt/format.h>

#include "data/format/control_record.h"
#include "data/format/json.h"
#include "data/format/request_id.h"

namespace trainwarden::format {
namespace {

constexpr const char* kRedrive = "redrive";
constexpr const char* kDrop = "drop";

}  // namespace

std::string delivery_request_path(std::string_view key) {
  return path_of({RequestKind::kDelivery, std::string(key)});
}

bool is_delivery_request_file(std::string_view file_name) {
  return is_request_file(RequestKind::kDelivery, file_name);
}

std::string encode_delivery_request(const DeliveryRequest& request) {
  return dump_json({{"type", request.kind == DeliveryRequest::Kind::kRedrive ? kRedrive : kDrop},
                    {"key", request.key},
                    {"subscription", request.subscription},
                    {"seq", request.seq},
                    {"requested_by", request.requested_by},
                    {"unix_ns", request.unix_ns}}) +
         "\n";
}

Result<DeliveryRequest> decode_delivery_request(std::string_view text) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, parse_json_object(text, "delivery request"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string type, string_field(json, "type"));
  if (type != kRedrive && type != kDrop) {
    return Status(Code::kDataLoss, fmt::format("delivery request: expected the type \"{}\" or \"{}\", found \"{}\"",
                                               kRedrive, kDrop, type));
  }
  DeliveryRequest request;
  request.kind = type == kRedrive ? DeliveryRequest::Kind::kRedrive : DeliveryRequest::Kind::kDrop;
  TRAINWARDEN_ASSIGN_OR_RETURN(request.key, string_field(json, "key"));
  TRAINWARDEN_ASSIGN_OR_RETURN(request.subscription, string_field(json, "subscription"));
  TRAINWARDEN_ASSIGN_OR_RETURN(request.seq, uint_field(json, "seq"));
  TRAINWARDEN_ASSIGN_OR_RETURN(request.requested_by, string_field(json, "requested_by"));
  TRAINWARDEN_ASSIGN_OR_RETURN(request.unix_ns, int_field(json, "unix_ns"));
  return request;
}

}  // namespace trainwarden::format
