#include "data/format/columns.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace trainwarden::format {
namespace {

template <class T>
constexpr DType kColumnType = DType::kString;
template <>
constexpr DType kColumnType<std::int8_t> = DType::kInt8;
template <>
constexpr DType kColumnType<std::uint8_t> = DType::kUInt8;
template <>
constexpr DType kColumnType<std::int16_t> = DType::kInt16;
template <>
constexpr DType kColumnType<std::uint16_t> = DType::kUInt16;
template <>
constexpr DType kColumnType<std::uint32_t> = DType::kUInt32;
template <>
constexpr DType kColumnType<std::int32_t> = DType::kInt32;
template <>
constexpr DType kColumnType<std::uint64_t> = DType::kUInt64;
template <>
constexpr DType kColumnType<std::int64_t> = DType::kInt64;
template <>
constexpr DType kColumnType<double> = DType::kFloat64;

Status damaged(std::string_view column, std::string_view what) {
  return Status(Code::kDataLoss, fmt::format("column \"{}\": {}", column, what));
}

}  // namespace

template <class T>
void ColumnWriter::add(std::string name, const std::vector<T>& values) {
  columns_.push_back(
      {std::move(name), kColumnType<T>, values.size(), std::string(as_text(std::as_bytes(std::span(values))))});
}

std::string ColumnWriter::finish() const {
  std::vector<const Column*> order(columns_.size());
  std::transform(columns_.begin(), columns_.end(), order.begin(), [](const Column& column) { return &column; });
  std::stable_sort(order.begin(), order.end(),
                   [](const Column* a, const Column* b) { return item_bytes(a->dtype) > item_bytes(b->dtype); });
  std::vector<SafetensorsEntry> entries;
  entries.reserve(order.size());
  for (const Column* column : order) {
    entries.push_back({column->name, column->dtype, {static_cast<std::int64_t>(column->rows)}});
  }
  std::string document = encode_safetensors_header(entries, metadata_);
  for (const Column* column : order) document += column->bytes;
  return document;
}

Result<ColumnReader> ColumnReader::open(ByteSpan document) {
  Result<SafetensorsHeader> header = decode_safetensors_header(document, document.size());
  if (header.ok()) return ColumnReader(document, *std::move(header));
  if (header.status().code() == Code::kNeedMore) return Status(Code::kDataLoss, header.status().message());
  return header.status();
}

template <class T>
Result<ColumnView<T>> ColumnReader::view(std::string_view name) const {
  const SafetensorsEntry* entry = header_.find(name);
  if (entry == nullptr) return damaged(name, "expected, found nothing");
  if (entry->dtype != kColumnType<T> || entry->shape.size() != 1) {
    return damaged(name, fmt::format("expected one dimension of {}, found {} of {}", trainwarden::name(kColumnType<T>),
                                     entry->shape.size(), trainwarden::name(entry->dtype)));
  }
  return ColumnView<T>(document_.subspan(header_.data_offset + entry->begin, entry->end - entry->begin));
}

template <class T>
Result<ColumnView<T>> ColumnReader::view(std::string_view name, std::size_t rows) const {
  Result<ColumnView<T>> view = this->view<T>(name);
  if (view.ok() && view->size() != rows)
    return damaged(name, fmt::format("expected {} rows, found {}", rows, view->size()));
  return view;
}

#define TW_INSTANTIATE(T)                                                       \
  template void ColumnWriter::add<T>(std::string, const std::vector<T>&);       \
  template Result<ColumnView<T>> ColumnReader::view<T>(std::string_view) const; \
  template Result<ColumnView<T>> ColumnReader::view<T>(std::string_view, std::size_t rows) const;
TW_INSTANTIATE(std::int8_t)
TW_INSTANTIATE(std::uint8_t)
TW_INSTANTIATE(std::int16_t)
TW_INSTANTIATE(std::uint16_t)
TW_INSTANTIATE(std::uint32_t)
TW_INSTANTIATE(std::int32_t)
TW_INSTANTIATE(std::uint64_t)
TW_INSTANTIATE(std::int64_t)
TW_INSTANTIATE(double)
#undef TW_INSTANTIATE

}  // namespace trainwarden::format
