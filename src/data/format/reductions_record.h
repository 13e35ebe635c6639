// Reductions record: single reductions of the tensors of one step, as columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "trainwarden/reduction.h"
#include "trainwarden/status.h"

namespace trainwarden::format {

struct ReductionRow {
  std::uint32_t id = 0;
  Reduction reduction = Reduction::kMean;
  bool abs = false;
  double value = 0;
  friend bool operator==(const ReductionRow&, const ReductionRow&) = default;
};

std::string encode_reductions(std::span<const ReductionRow> rows);
// Also checks the rows.
Result<std::vector<ReductionRow>> decode_reductions(ByteSpan payload);

// Do the rows of each tensor lie together?
bool lie_together(std::span<const ReductionRow> rows);
// Where the rows of each tensor start, in their order.
std::vector<std::size_t> first_rows(std::span<const ReductionRow> rows);

}  // namespace trainwarden::format
