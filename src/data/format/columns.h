// Columns: a table as one safetensors document, in which every column is a one-dimensional tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/bytes.h"
#include "data/format/safetensors.h"
#include "trainwarden/dtype.h"
#include "trainwarden/status.h"

namespace trainwarden::format {

// The element types of columns: std::int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t, double.

class ColumnWriter {
 public:
  template <class T>
  void add(std::string name, const std::vector<T>& values);
  void set_metadata(std::string key, std::string value) { metadata_[std::move(key)] = std::move(value); }
  std::string finish() const;  // the document; columns of wide types first, so that all are aligned

 private:
  struct Column {
    std::string name;
    DType dtype;
    std::size_t rows;
    std::string bytes;
  };
  std::vector<Column> columns_;
  std::map<std::string, std::string> metadata_;
};

// A column in place. The bytes need not be aligned.
template <class T>
class ColumnView {
 public:
  ColumnView() = default;
  explicit ColumnView(ByteSpan bytes) : bytes_(bytes) {}

  std::size_t size() const { return bytes_.size() / sizeof(T); }
  T operator[](std::size_t row) const { return load_le<T>(bytes_, row * sizeof(T)); }
  std::vector<T> to_vector() const {
    std::vector<T> values(size());
    if (!values.empty()) std::memcpy(values.data(), bytes_.data(), bytes_.size());
    return values;
  }

 private:
  ByteSpan bytes_;
};

class ColumnReader {
 public:
  // Copies nothing: `document` must outlive the reader and its views.
  static Result<ColumnReader> open(ByteSpan document);

  // kDataLoss when the column is missing, of another type or not one-dimensional.
  template <class T>
  Result<ColumnView<T>> view(std::string_view name) const;
  // The same, and kDataLoss when it has another number of rows.
  template <class T>
  Result<ColumnView<T>> view(std::string_view name, std::size_t rows) const;

  // An empty view when the column is missing: the writer leaves it out where it has no rows.
  template <class T>
  Result<ColumnView<T>> view_if_there(std::string_view name) const {
    return has(name) ? view<T>(name) : ColumnView<T>();
  }

  bool has(std::string_view name) const { return header_.find(name) != nullptr; }
  const SafetensorsHeader& header() const { return header_; }

 private:
  ColumnReader(ByteSpan document, SafetensorsHeader header) : document_(document), header_(std::move(header)) {}

  ByteSpan document_;
  SafetensorsHeader header_;
};

}  // namespace trainwarden::format
