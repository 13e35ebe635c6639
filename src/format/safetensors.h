// The safetensors document: 8 bytes of header length, a JSON header, the tensors' bytes without gaps.
// Source: the safetensors format description (huggingface/safetensors), version 0.4 and later.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "trainwarden/dtype.h"
#include "trainwarden/status.h"

namespace trainwarden::format {

struct SafetensorsEntry {
  std::string name;
  DType dtype = DType::kUInt8;        // of those that safetensors has: no complex, no string
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;            // of its bytes, from the start of the data section
  std::uint64_t end = 0;
  friend bool operator==(const SafetensorsEntry&, const SafetensorsEntry&) = default;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;        // in the order of their bytes
  std::map<std::string, std::string> metadata;  // "__metadata__"
  std::uint64_t data_offset = 0;                // where the data section starts in the document

  const SafetensorsEntry* find(std::string_view name) const;
};

// The length field and the JSON, padded with blanks to a multiple of 64. begin, end and data_offset of the argument are
// not looked at: the entries' bytes follow one another in the given order.
std::string encode_safetensors_header(const std::vector<SafetensorsEntry>& entries,
                                      const std::map<std::string, std::string>& metadata = {});

// `prefix` is the start of a document of `document_bytes` bytes. kNeedMore when the prefix ends before the header does
// (8 bytes tell how long it is: safetensors_header_bytes), kDataLoss when it is not well-formed: bad JSON, unknown dtype,
// overlaps, gaps, sizes that do not fit shape and dtype, a name twice.
Result<SafetensorsHeader> decode_safetensors_header(ByteSpan prefix, std::uint64_t document_bytes);
// How long the prefix must be, from its first 8 bytes. kDataLoss when over the format's limit of 100 MB or the document.
Result<std::uint64_t> safetensors_header_bytes(ByteSpan first_8_bytes, std::uint64_t document_bytes);

// A table of columns as one safetensors document; every column is one-dimensional.
class ColumnWriter {
 public:
  // T: std::uint8_t, uint16_t, uint32_t, int64_t, uint64_t, double.
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

class ColumnReader {
 public:
  // Copies nothing: `document` must outlive the reader.
  static Result<ColumnReader> open(ByteSpan document);
  // kDataLoss when the column is missing or of another type.
  template <class T>
  Result<std::vector<T>> column(std::string_view name) const;
  bool has(std::string_view name) const { return header_.find(name) != nullptr; }
  const SafetensorsHeader& header() const { return header_; }

 private:
  ByteSpan document_;
  SafetensorsHeader header_;
};

}  // namespace trainwarden::format
