#include "data/format/reductions_record.h"

#include <unordered_set>

#include <fmt/format.h>

#include "data/format/columns.h"

namespace trainwarden::format {
namespace {

constexpr const char* kTensor = "tensor";
constexpr const char* kReduction = "reduction";
constexpr const char* kAbs = "abs";
constexpr const char* kValue = "value";

Status damaged_reduction(std::string_view column, std::size_t row, std::string_view what) {
  return Status(Code::kDataLoss, fmt::format("reductions: column \"{}\", row {}: {}", column, row, what));
}

}  // namespace

std::string encode_reductions(std::span<const ReductionRow> rows) {
  std::vector<std::uint32_t> tensors;
  std::vector<std::uint8_t> reductions;
  std::vector<std::uint8_t> abs;
  std::vector<double> values;
  for (const ReductionRow& row : rows) {
    tensors.push_back(row.id);
    reductions.push_back(static_cast<std::uint8_t>(row.reduction));
    abs.push_back(row.abs ? 1 : 0);
    values.push_back(row.value);
  }
  ColumnWriter columns;
  columns.add(kTensor, tensors);
  columns.add(kReduction, reductions);
  columns.add(kAbs, abs);
  columns.add(kValue, values);
  return columns.finish();
}

Result<std::vector<ReductionRow>> decode_reductions(ByteSpan payload) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const ColumnReader columns, ColumnReader::open(payload));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto tensors, columns.view<std::uint32_t>(kTensor));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto reductions, columns.view<std::uint8_t>(kReduction, tensors.size()));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto abs, columns.view<std::uint8_t>(kAbs, tensors.size()));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto values, columns.view<double>(kValue, tensors.size()));
  std::vector<ReductionRow> rows(tensors.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (reductions[i] >= kReductionCount) return damaged_reduction(kReduction, i, "unknown reduction");
    if (abs[i] > 1) return damaged_reduction(kAbs, i, "neither 0 nor 1");
    rows[i] = {tensors[i], static_cast<Reduction>(reductions[i]), abs[i] == 1, values[i]};
  }
  if (!lie_together(rows)) return Status(Code::kDataLoss, "reductions: the rows of a tensor do not lie together");
  return rows;
}

bool lie_together(std::span<const ReductionRow> rows) {
  std::unordered_set<std::uint32_t> seen;
  for (const std::size_t row : first_rows(rows)) {
    if (!seen.insert(rows[row].id).second) return false;
  }
  return true;
}

std::vector<std::size_t> first_rows(std::span<const ReductionRow> rows) {
  std::vector<std::size_t> first;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (row == 0 || rows[row].id != rows[row - 1].id) first.push_back(row);
  }
  return first;
}

}  // namespace trainwarden::format
