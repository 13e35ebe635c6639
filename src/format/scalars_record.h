// Scalars record: numbers of one step, as columns.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "trainwarden/status.h"

namespace trainwarden::format {

struct ScalarRow {
  std::uint32_t id = 0;
  double value = 0;
};

std::string encode_scalars(std::span<const ScalarRow> rows);
Result<std::vector<ScalarRow>> decode_scalars(ByteSpan payload);

}  // namespace trainwarden::format
