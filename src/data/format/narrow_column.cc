#include "data/format/narrow_column.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace trainwarden::format {
namespace {

template <class T>
constexpr std::uint64_t kElsewhere = std::numeric_limits<T>::max();

constexpr std::uint64_t kWideBytes = sizeof(std::uint64_t);

// What the column takes in type T, with its wide rows.
template <class T>
std::uint64_t bytes_as(const std::vector<std::uint64_t>& values) {
  const auto wide = std::count_if(values.begin(), values.end(), [](std::uint64_t v) { return v >= kElsewhere<T>; });
  return values.size() * sizeof(T) + static_cast<std::uint64_t>(wide) * kWideBytes;
}

template <class T>
void add_as(ColumnWriter& columns, const std::string& name, const std::vector<std::uint64_t>& values) {
  std::vector<T> rows(values.size());
  std::vector<std::uint64_t> wide;
  for (std::size_t i = 0; i < values.size(); ++i) {
    rows[i] = static_cast<T>(std::min(values[i], kElsewhere<T>));
    if (values[i] >= kElsewhere<T>) wide.push_back(values[i]);
  }
  columns.add(name, rows);
  if (!wide.empty()) columns.add(name + "_wide", wide);
}

Status bad_column(const std::string& name, std::size_t rows, std::size_t found) {
  return Status(Code::kDataLoss, fmt::format("column \"{}\": expected {} rows, found {}", name, rows, found));
}

template <class T>
Result<std::vector<std::uint64_t>> read_as(const ColumnReader& columns, const std::string& name, std::size_t rows) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto column, columns.view<T>(name, rows));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto wide, columns.view_if_there<std::uint64_t>(name + "_wide"));
  std::vector<std::uint64_t> values(rows);
  std::size_t taken = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    values[i] = column[i];
    if (values[i] != kElsewhere<T>) continue;
    if (taken == wide.size()) return bad_column(name + "_wide", taken + 1, wide.size());
    values[i] = wide[taken++];
  }
  if (taken != wide.size()) return bad_column(name + "_wide", taken, wide.size());
  return values;
}

}  // namespace

void add_narrow(ColumnWriter& columns, const std::string& name, const std::vector<std::uint64_t>& values) {
  if (std::all_of(values.begin(), values.end(), [](std::uint64_t value) { return value == 0; })) return;
  const std::uint64_t bytes8 = bytes_as<std::uint8_t>(values);
  const std::uint64_t bytes16 = bytes_as<std::uint16_t>(values);
  const std::uint64_t bytes32 = bytes_as<std::uint32_t>(values);
  if (bytes8 <= bytes16 && bytes8 <= bytes32) return add_as<std::uint8_t>(columns, name, values);
  return bytes16 <= bytes32 ? add_as<std::uint16_t>(columns, name, values)
                            : add_as<std::uint32_t>(columns, name, values);
}

Result<std::vector<std::uint64_t>> read_narrow(const ColumnReader& columns, const std::string& name, std::size_t rows) {
  const SafetensorsEntry* entry = columns.header().find(name);
  if (entry == nullptr) return std::vector<std::uint64_t>(rows);
  if (entry->dtype == DType::kUInt8) return read_as<std::uint8_t>(columns, name, rows);
  if (entry->dtype == DType::kUInt16) return read_as<std::uint16_t>(columns, name, rows);
  return read_as<std::uint32_t>(columns, name, rows);
}

}  // namespace trainwarden::format
