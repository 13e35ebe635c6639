#include "data/format/safetensors.h"

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "data/format/compact_headers.h"
#include "data/format/frame.h"
#include "data/format/json.h"

namespace trainwarden::format {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  // of the JSON; the reference implementation's limit

struct DTypeName {
  DType dtype;
  std::string_view name;
};
constexpr std::array kDTypeNames = {
    DTypeName{DType::kBool, "BOOL"},
    DTypeName{DType::kUInt8, "U8"},
    DTypeName{DType::kInt8, "I8"},
    DTypeName{DType::kUInt16, "U16"},
    DTypeName{DType::kInt16, "I16"},
    DTypeName{DType::kUInt32, "U32"},
    DTypeName{DType::kInt32, "I32"},
    DTypeName{DType::kUInt64, "U64"},
    DTypeName{DType::kInt64, "I64"},
    DTypeName{DType::kFloat16, "F16"},
    DTypeName{DType::kBFloat16, "BF16"},
    DTypeName{DType::kFloat32, "F32"},
    DTypeName{DType::kFloat64, "F64"},
    DTypeName{DType::kFloat8E4M3, "F8_E4M3"},
    DTypeName{DType::kFloat8E5M2, "F8_E5M2"},
};

std::string quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

Status damaged_header(std::string_view what) {
  return Status(Code::kDataLoss, fmt::format("safetensors header: {}", what));
}

Result<std::map<std::string, std::string>> decode_metadata(const Json& json) {
  std::map<std::string, std::string> metadata;
  if (!json.is_object()) return damaged_header("\"__metadata__\" is not an object");
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) return damaged_header(fmt::format("\"__metadata__\" field \"{}\" is not a string", key));
    metadata.emplace(key, value.get<std::string>());
  }
  return metadata;
}

Result<std::vector<std::int64_t>> decode_shape(const Json& json) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* sizes, array_field(json, "shape"));
  std::vector<std::int64_t> shape;
  shape.reserve(sizes->size());
  for (const Json& size : *sizes) {
    constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (!size.is_number_unsigned() || size.get<std::uint64_t>() > kLargest) {
      return Status(Code::kDataLoss, fmt::format("field \"shape\": {} is not a size", size.dump()));
    }
    shape.push_back(size.get<std::int64_t>());
  }
  return shape;
}

Result<SafetensorsEntry> decode_entry(const std::string& name, const Json& json) {
  SafetensorsEntry entry;
  entry.name = name;
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string dtype, string_field(json, "dtype"));
  const std::optional<DType> known = parse_safetensors_dtype(dtype);
  if (!known) return Status(Code::kDataLoss, fmt::format("field \"dtype\": unknown type \"{}\"", dtype));
  entry.dtype = *known;
  TRAINWARDEN_ASSIGN_OR_RETURN(entry.shape, decode_shape(json));
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* offsets, array_field(json, "data_offsets"));
  if (offsets->size() != 2 || !(*offsets)[0].is_number_unsigned() || !(*offsets)[1].is_number_unsigned()) {
    return Status(Code::kDataLoss, "field \"data_offsets\": expected two non-negative integers");
  }
  entry.begin = (*offsets)[0].get<std::uint64_t>();
  entry.end = (*offsets)[1].get<std::uint64_t>();
  const std::optional<std::uint64_t> bytes = tensor_bytes(entry.dtype, entry.shape);
  if (!bytes || entry.end < entry.begin || entry.end - entry.begin != *bytes) {
    return Status(Code::kDataLoss,
                  fmt::format("field \"data_offsets\": [{}, {}] does not fit shape and dtype", entry.begin, entry.end));
  }
  return entry;
}

// The entries' bytes must follow one another from the first byte of the data section to its last.
Status check_coverage(const std::vector<SafetensorsEntry>& entries, std::uint64_t data_bytes) {
  std::uint64_t covered = 0;
  for (const SafetensorsEntry& entry : entries) {
    if (entry.begin != covered) {
      return damaged_header(
          fmt::format("tensor \"{}\" starts at {} where {} was expected", entry.name, entry.begin, covered));
    }
    covered = entry.end;
  }
  if (covered != data_bytes)
    return damaged_header(fmt::format("{} bytes of data expected, {} found", covered, data_bytes));
  return Status();
}

Result<SafetensorsHeader> decode_json(std::string_view text) {
  if (!text.starts_with('{')) return damaged_header("it does not start with {");
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, parse_json_object(text, "safetensors header"));
  SafetensorsHeader header;
  header.entries.reserve(json.size());
  for (const auto& [name, value] : json.items()) {
    if (name == kSafetensorsMetadata) {
      TRAINWARDEN_ASSIGN_OR_RETURN(header.metadata, decode_metadata(value));
      continue;
    }
    Result<SafetensorsEntry> entry = decode_entry(name, value);
    if (!entry.ok()) return entry.status().with_context(fmt::format("safetensors header: tensor \"{}\"", name));
    header.entries.push_back(*std::move(entry));
  }
  return header;
}

Result<SafetensorsHeader> decode_text(std::string_view text) {
  auto compact = read_compact_safetensors(text);
  return compact ? Result<SafetensorsHeader>(*std::move(compact)) : decode_json(text);
}

void sort_by_bytes(std::vector<SafetensorsEntry>& entries) {
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
}

}  // namespace

std::string_view safetensors_name(DType dtype) {
  const auto* found =
      std::find_if(kDTypeNames.begin(), kDTypeNames.end(), [&](auto& row) { return row.dtype == dtype; });
  return found == kDTypeNames.end() ? "" : found->name;
}

std::optional<DType> parse_safetensors_dtype(std::string_view written) {
  const auto* found =
      std::find_if(kDTypeNames.begin(), kDTypeNames.end(), [&](auto& row) { return row.name == written; });
  return found == kDTypeNames.end() ? std::nullopt : std::optional(found->dtype);
}

const SafetensorsEntry* SafetensorsHeader::find(std::string_view name) const {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

std::optional<std::uint64_t> tensor_bytes(DType dtype, std::span<const std::int64_t> shape) {
  std::int64_t elements = 1;
  for (const std::int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(elements, size, &elements)) return std::nullopt;
  }
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(elements), item_bytes(dtype), &bytes)) return std::nullopt;
  return bytes;
}

std::string encode_safetensors_header(const std::vector<SafetensorsEntry>& entries,
                                      const std::map<std::string, std::string>& metadata) {
  std::string json = "{";
  const auto separate = [&] { return json.size() > 1 ? "," : ""; };
  if (!metadata.empty()) json += fmt::format("\"{}\":{}", kSafetensorsMetadata, dump_json(OrderedJson(metadata)));
  std::uint64_t begin = 0;
  for (const SafetensorsEntry& entry : entries) {
    const std::uint64_t end = begin + tensor_bytes(entry.dtype, entry.shape).value_or(0);
    json += fmt::format("{}{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}", separate(),
                        quoted(entry.name), safetensors_name(entry.dtype), fmt::join(entry.shape, ","), begin, end);
    begin = end;
  }
  json += '}';
  json.resize(align_up(kLengthBytes + json.size(), kFrameAlignment) - kLengthBytes, ' ');

  std::string header(kLengthBytes, '\0');
  store_le(std::as_writable_bytes(std::span(header)), 0, static_cast<std::uint64_t>(json.size()));
  return header + json;
}

Result<std::uint64_t> safetensors_header_bytes(ByteSpan first_8_bytes, std::uint64_t document_bytes) {
  if (document_bytes < kLengthBytes)
    return damaged_header(fmt::format("a document of {} bytes has none", document_bytes));
  if (first_8_bytes.size() < kLengthBytes) return Status(Code::kNeedMore, "safetensors header: 8 bytes are needed");
  const auto json_bytes = load_le<std::uint64_t>(first_8_bytes, 0);
  if (json_bytes > kMaxHeaderBytes || json_bytes > document_bytes - kLengthBytes) {
    return damaged_header(fmt::format("a length of {} in a document of {} bytes", json_bytes, document_bytes));
  }
  return kLengthBytes + json_bytes;
}

Result<SafetensorsHeader> decode_safetensors_header(ByteSpan prefix, std::uint64_t document_bytes) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint64_t header_bytes, safetensors_header_bytes(prefix, document_bytes));
  if (prefix.size() < header_bytes) {
    return Status(Code::kNeedMore, fmt::format("safetensors header: {} bytes are needed", header_bytes));
  }
  try {
    TRAINWARDEN_ASSIGN_OR_RETURN(SafetensorsHeader header,
                                 decode_text(as_text(prefix.subspan(kLengthBytes, header_bytes - kLengthBytes))));
    sort_by_bytes(header.entries);
    header.data_offset = header_bytes;
    TRAINWARDEN_RETURN_IF_ERROR(check_coverage(header.entries, document_bytes - header_bytes));
    return header;
  } catch (const std::bad_alloc&) {
    return Status(Code::kResourceExhausted, "safetensors header: not enough memory to read it");
  }
}

}  // namespace trainwarden::format
