// Output position: up to where of a program's output the values are in the journal. An event in that journal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden::format {

struct OutputPosition {
  std::string file;         // that was read
  std::uint64_t bytes = 0;  // of it, from its beginning; a record ends there
  friend bool operator==(const OutputPosition&, const OutputPosition&) = default;
};

std::string encode_output_position(const OutputPosition& position);
// None when the event is of another type. kDataLoss.
Result<std::optional<OutputPosition>> decode_output_position(std::string_view json);

}  // namespace trainwarden::format
