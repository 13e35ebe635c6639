#include "format/scalars_record.h"

#include "format/columns.h"

namespace trainwarden::format {

std::string encode_scalars(std::span<const ScalarRow> rows) {
  std::vector<std::uint32_t> tensors;
  std::vector<double> values;
  tensors.reserve(rows.size());
  values.reserve(rows.size());
  for (const ScalarRow& row : rows) {
    tensors.push_back(row.id);
    values.push_back(row.value);
  }
  ColumnWriter columns;
  columns.add("tensor", tensors);
  columns.add("value", values);
  return columns.finish();
}

Result<std::vector<ScalarRow>> decode_scalars(ByteSpan payload) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const ColumnReader columns, ColumnReader::open(payload));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto tensors, columns.view<std::uint32_t>("tensor"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto values, columns.view<double>("value", tensors.size()));
  std::vector<ScalarRow> rows(tensors.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = {tensors[i], values[i]};
  return rows;
}

}  // namespace trainwarden::format
