// Scalars record: numbers of one step, as columns.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "trainwarden/status.h"

namespace trainwarden::format {

struct ScalarRow {
  std::uint32_t id = 0;
  double value = 0;
};

std::string encode_scalars(std::span<const ScalarRow> rows);
Result<std::vector<ScalarRow>> decode_scalars(ByteSpan payload);

// The same for the scalars of many steps: those of the same tensors have the same header, which is then read once.
class ScalarsDecoder {
 public:
  // Valid until the next call. kDataLoss.
  Result<std::span<const ScalarRow>> decode(ByteSpan payload);

 private:
  Status read_header(ByteSpan payload);

  // Of the last payload.
  std::vector<std::byte> header_;
  std::size_t payload_bytes_ = 0;
  std::size_t tensors_offset_ = 0;
  std::size_t values_offset_ = 0;
  std::vector<ScalarRow> rows_;
};

}  // namespace trainwarden::format
