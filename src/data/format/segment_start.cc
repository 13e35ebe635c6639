#include "data/format/segment_start.h"

#include <limits>

#include "data/format/collection_json.h"
#include "data/format/json.h"

namespace trainwarden::format {

std::string encode_segment_start(const SegmentStart& start) {
  return dump_json({{"run", start.run},
                    {"writer", start.writer},
                    {"writer_id", start.writer_id},
                    {"segment", start.segment},
                    {"format_version", start.format_version},
                    {"host", start.host},
                    {"pid", start.pid},
                    {"collections", collections_to_json(start.collections)}});
}

Result<SegmentStart> decode_segment_start(std::string_view text) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, parse_json_object(text, "segment start"));
  SegmentStart start;
  TRAINWARDEN_ASSIGN_OR_RETURN(start.run, string_field(json, "run"));
  TRAINWARDEN_ASSIGN_OR_RETURN(start.writer, string_field(json, "writer"));
  constexpr std::uint64_t kLargestId = std::numeric_limits<std::uint32_t>::max();
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint64_t writer_id, uint_field(json, "writer_id", kLargestId));
  start.writer_id = static_cast<std::uint32_t>(writer_id);
  TRAINWARDEN_ASSIGN_OR_RETURN(start.segment, uint_field(json, "segment"));
  TRAINWARDEN_ASSIGN_OR_RETURN(start.format_version, int_field(json, "format_version", 1));
  TRAINWARDEN_ASSIGN_OR_RETURN(start.host, string_field(json, "host"));
  TRAINWARDEN_ASSIGN_OR_RETURN(start.pid, int_field(json, "pid"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* collections, array_field(json, "collections"));
  TRAINWARDEN_ASSIGN_OR_RETURN(start.collections, collections_from_json(*collections));
  return start;
}

}  // namespace trainwarden::format
