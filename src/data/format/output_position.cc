#include "data/format/output_position.h"

#include "data/format/json.h"

namespace trainwarden::format {
namespace {

constexpr const char* kPositionType = "output_position";

}  // namespace

std::string encode_output_position(const OutputPosition& position) {
  const OrderedJson event = {{"type", kPositionType}, {"file", position.file}, {"bytes", position.bytes}};
  return dump_json(event);
}

Result<std::optional<OutputPosition>> decode_output_position(std::string_view text) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, parse_json_object(text, "event"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string type, string_field(json, "type"));
  if (type != kPositionType) return std::optional<OutputPosition>();
  OutputPosition position;
  TRAINWARDEN_ASSIGN_OR_RETURN(position.file, string_field(json, "file"));
  TRAINWARDEN_ASSIGN_OR_RETURN(position.bytes, uint_field(json, "bytes"));
  return std::optional(std::move(position));
}

}  // namespace trainwarden::format
