// Segment start: the first frame of a segment, which says whose it is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/collection.h"
#include "trainwarden/status.h"

namespace trainwarden::format {

struct SegmentStart {
  std::string run;     // the run's id
  std::string writer;  // "rank-00000", "watch-0"
  std::uint32_t writer_id = 0;
  std::uint64_t segment = 0;  // its number, as in the file's name
  std::int64_t format_version = 1;
  std::string host;
  std::int64_t pid = 0;
  std::vector<Collection> collections;  // the manifest, as the hook resolved it
};

std::string encode_segment_start(const SegmentStart& start);
Result<SegmentStart> decode_segment_start(std::string_view json);

}  // namespace trainwarden::format
