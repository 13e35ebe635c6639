// The safetensors document: 8 bytes of header length, a JSON header, the tensors' bytes without gaps.
// Source: the safetensors format description (huggingface/safetensors), version 0.4 and later.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "trainwarden/dtype.h"
#include "trainwarden/status.h"

namespace trainwarden::format {

struct SafetensorsEntry {
  std::string name;             // UTF-8
  DType dtype = DType::kUInt8;  // of those that safetensors has: no complex, no string
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;  // of its bytes, from the start of the data section
  std::uint64_t end = 0;
  friend bool operator==(const SafetensorsEntry&, const SafetensorsEntry&) = default;
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;        // in the order of their bytes
  std::map<std::string, std::string> metadata;  // "__metadata__"
  std::uint64_t data_offset = 0;                // where the data section starts in the document

  const SafetensorsEntry* find(std::string_view name) const;
};

// The key of the metadata, beside those of tensors.
inline constexpr std::string_view kSafetensorsMetadata = "__metadata__";

// "F32"; empty for dtypes that safetensors does not have.
std::string_view safetensors_name(DType dtype);
std::optional<DType> parse_safetensors_dtype(std::string_view written);

// Bytes of a packed tensor. None when a size is negative or the product, taken from the left, does not fit: so no later
// multiplication can overflow, even where a size of 0 follows.
std::optional<std::uint64_t> tensor_bytes(DType dtype, std::span<const std::int64_t> shape);

// The length field and the JSON, padded with blanks to a multiple of 64. begin, end and data_offset of the argument are
// not looked at: the entries' bytes follow one another in the given order. Names must differ and must not be
// "__metadata__".
std::string encode_safetensors_header(const std::vector<SafetensorsEntry>& entries,
                                      const std::map<std::string, std::string>& metadata = {});

// `prefix` is the start of a document of `document_bytes` bytes. kNeedMore when the prefix ends before the header does
// (8 bytes say how long it is: safetensors_header_bytes), kDataLoss when it is not well-formed: bad JSON, unknown
// dtype, overlaps, gaps, sizes that do not fit shape and dtype, a name twice.
Result<SafetensorsHeader> decode_safetensors_header(ByteSpan prefix, std::uint64_t document_bytes);
// How long the prefix must be, from its first 8 bytes. kDataLoss when over the format's limit of 100 MB or the
// document.
Result<std::uint64_t> safetensors_header_bytes(ByteSpan first_8_bytes, std::uint64_t document_bytes);

}  // namespace trainwarden::format
