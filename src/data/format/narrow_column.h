// Narrow columns: numbers from 0 up in the narrowest type that suits most of them, the others beside.
//
// Column NAME has a row for each number. The largest value of its type stands for a number that is too large for it:
// the next row of NAME_wide. A column of which every row is 0 is not there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "data/format/columns.h"
#include "trainwarden/status.h"

namespace trainwarden::format {

void add_narrow(ColumnWriter& columns, const std::string& name, const std::vector<std::uint64_t>& values);

// kDataLoss when the columns do not have just `rows` rows.
Result<std::vector<std::uint64_t>> read_narrow(const ColumnReader& columns, const std::string& name, std::size_t rows);

// Small numbers of either sign as small numbers from 0 up: 0, -1, 1, -2, ...
constexpr std::uint64_t fold_sign(std::int64_t value) {
  return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t unfold_sign(std::uint64_t folded) {
  return static_cast<std::int64_t>(folded >> 1 ^ (~(folded & 1) + 1));
}

}  // namespace trainwarden::format
