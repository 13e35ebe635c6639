#include "data/format/scalars_record.h"

#include <cstring>

#include "data/format/columns.h"

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
  ScalarsDecoder decoder;
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto rows, decoder.decode(payload));
  return std::vector<ScalarRow>(rows.begin(), rows.end());
}

Result<std::span<const ScalarRow>> ScalarsDecoder::decode(ByteSpan payload) {
  const bool same = !header_.empty() && payload.size() == payload_bytes_ &&
                    std::memcmp(header_.data(), payload.data(), header_.size()) == 0;
  if (!same) TRAINWARDEN_RETURN_IF_ERROR(read_header(payload));
  const ColumnView<std::uint32_t> tensors(payload.subspan(tensors_offset_, rows_.size() * sizeof(std::uint32_t)));
  const ColumnView<double> values(payload.subspan(values_offset_, rows_.size() * sizeof(double)));
  for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i] = {tensors[i], values[i]};
  return std::span<const ScalarRow>(rows_);
}

Status ScalarsDecoder::read_header(ByteSpan payload) {
  header_.clear();
  TRAINWARDEN_ASSIGN_OR_RETURN(const ColumnReader columns, ColumnReader::open(payload));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto tensors, columns.view<std::uint32_t>("tensor"));
  TRAINWARDEN_RETURN_IF_ERROR(columns.view<double>("value", tensors.size()).status());
  const SafetensorsHeader& header = columns.header();
  tensors_offset_ = header.data_offset + header.find("tensor")->begin;
  values_offset_ = header.data_offset + header.find("value")->begin;
  rows_.resize(tensors.size());
  payload_bytes_ = payload.size();
  header_.assign(payload.begin(), payload.begin() + static_cast<std::ptrdiff_t>(header.data_offset));
  return Status();
}

}  // namespace trainwarden::format
