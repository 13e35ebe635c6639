#include "data/format/bundle.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_set>

#include <fmt/format.h>

#include "data/format/json.h"
#include "data/format/name_escape.h"
#include "data/format/safetensors.h"

namespace trainwarden::format {
namespace {

// Keys of the document's metadata, each followed by the entry's key.
constexpr const char* kDTypeNote = "dtype:";      // the dtype, where safetensors does not have it
constexpr const char* kStringsNote = "strings:";  // {"shape": [...], "lengths": [...]}

bool has_safetensors_dtype(DType dtype) {
  return !is_complex(dtype) && dtype != DType::kString;
}

std::uint64_t stored_bytes(const KeptTensor& tensor) {
  if (tensor.dtype != DType::kString) return tensor.data.size();
  return std::accumulate(tensor.strings.begin(), tensor.strings.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const std::string& text) { return sum + text.size(); });
}

std::vector<std::int64_t> stored_shape(const KeptTensor& tensor) {
  if (tensor.dtype == DType::kString) return {static_cast<std::int64_t>(stored_bytes(tensor))};
  std::vector<std::int64_t> shape(tensor.shape.sizes().begin(), tensor.shape.sizes().end());
  if (is_complex(tensor.dtype)) shape.push_back(2);
  return shape;
}

Status check_kept(const KeptTensor& tensor, std::string_view name) {
  const bool is_string = tensor.dtype == DType::kString;
  const DType counted_as = is_string ? DType::kUInt8 : tensor.dtype;
  const std::uint64_t found = is_string ? tensor.strings.size() : tensor.data.size();
  const std::optional<std::uint64_t> expected = tensor_bytes(counted_as, tensor.shape.sizes());
  if (expected == found) return Status();
  return Status(Code::kInvalidArgument, fmt::format("tensor \"{}\": {} {} do not make {} of shape {}", name, found,
                                                    is_string ? "strings" : "bytes", trainwarden::name(tensor.dtype),
                                                    tensor.shape.to_string()));
}

std::string strings_note(const KeptTensor& tensor) {
  std::vector<std::size_t> lengths;
  lengths.reserve(tensor.strings.size());
  for (const std::string& text : tensor.strings) lengths.push_back(text.size());
  const auto sizes = tensor.shape.sizes();
  return dump_json({{"shape", std::vector<std::int64_t>(sizes.begin(), sizes.end())}, {"lengths", lengths}});
}

// Wide items first, so that each tensor is aligned to its items. Before them the tensors without bytes, by key: that is
// how a reader sorts entries that all start and end at 0.
std::vector<std::size_t> data_order(std::span<const KeptTensor> tensors, const std::vector<std::string>& keys) {
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto after_empty =
      std::stable_partition(order.begin(), order.end(), [&](std::size_t i) { return stored_bytes(tensors[i]) == 0; });
  std::sort(order.begin(), after_empty, [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  const auto width = [&](std::size_t i) { return item_bytes(stored_dtype(tensors[i].dtype)); };
  std::stable_sort(after_empty, order.end(), [&](std::size_t a, std::size_t b) { return width(a) > width(b); });
  return order;
}

Status in_tensor(const std::string& key, std::string_view what) {
  return Status(Code::kDataLoss, fmt::format("bundle: tensor \"{}\": {}", key, what));
}

Result<Shape> checked_shape(const std::string& key, std::span<const std::int64_t> sizes) {
  Result<Shape> shape = Shape::from(sizes);
  return shape.ok() ? shape : in_tensor(key, shape.status().message());
}

Result<std::vector<std::int64_t>> sizes_field(const Json& object, const char* field) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* array, array_field(object, field));
  std::vector<std::int64_t> sizes;
  sizes.reserve(array->size());
  for (const Json& item : *array) {
    if (!item.is_number_unsigned()) return Status(Code::kDataLoss, fmt::format("field \"{}\": expected sizes", field));
    sizes.push_back(item.get<std::int64_t>());
  }
  return sizes;
}

Status read_strings_note(const SafetensorsEntry& stored, const std::string& note, BundleEntry& entry) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, parse_json_object(note, kStringsNote + stored.name));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::int64_t> sizes, sizes_field(json, "shape"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::int64_t> lengths, sizes_field(json, "lengths"));
  TRAINWARDEN_ASSIGN_OR_RETURN(entry.shape, checked_shape(stored.name, sizes));
  if (tensor_bytes(DType::kUInt8, sizes) != lengths.size())
    return in_tensor(stored.name, "lengths do not fit the shape");
  std::uint64_t left = stored.end - stored.begin;
  for (const std::int64_t length : lengths) {
    const auto bytes = static_cast<std::uint64_t>(length);
    if (bytes > left) return in_tensor(stored.name, "lengths exceed the bytes");
    left -= bytes;
    entry.string_lengths.push_back(bytes);
  }
  return left == 0 ? Status() : in_tensor(stored.name, "bytes that belong to no string");
}

// Takes back what storing did to dtype and shape.
Status restore_type(const SafetensorsHeader& header, const SafetensorsEntry& stored, BundleEntry& entry) {
  std::span<const std::int64_t> sizes = stored.shape;
  entry.dtype = stored.dtype;
  if (const auto note = header.metadata.find(kDTypeNote + stored.name); note != header.metadata.end()) {
    const std::optional<DType> dtype = parse_dtype(note->second);
    if (!dtype || has_safetensors_dtype(*dtype) || stored_dtype(*dtype) != stored.dtype) {
      return in_tensor(stored.name, fmt::format("cannot be of type \"{}\"", note->second));
    }
    entry.dtype = *dtype;
  }
  if (entry.dtype == DType::kString) {
    const auto note = header.metadata.find(kStringsNote + stored.name);
    if (note == header.metadata.end()) return in_tensor(stored.name, "the lengths of its strings are missing");
    return read_strings_note(stored, note->second, entry);
  }
  if (is_complex(entry.dtype)) {
    if (sizes.empty() || sizes.back() != 2) return in_tensor(stored.name, "complex without a last dimension of 2");
    sizes = sizes.first(sizes.size() - 1);
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(entry.shape, checked_shape(stored.name, sizes));
  return Status();
}

}  // namespace

DType stored_dtype(DType dtype) {
  switch (dtype) {
    case DType::kComplex64: return DType::kFloat32;
    case DType::kComplex128: return DType::kFloat64;
    case DType::kString: return DType::kUInt8;
    default: return dtype;
  }
}

Result<BundleLayout> plan_bundle(std::span<const KeptTensor> tensors, std::span<const std::string_view> names,
                                 const std::map<std::string, std::string>& words) {
  std::unordered_set<std::string_view> seen;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    TRAINWARDEN_RETURN_IF_ERROR(check_kept(tensors[i], names[i]));
    if (seen.insert(names[i]).second) continue;
    return Status(Code::kInvalidArgument, fmt::format("tensor \"{}\" is there twice", names[i]));
  }

  std::vector<std::string> keys;
  keys.reserve(names.size());
  for (const std::string_view name : names) keys.push_back(escape_name(name));

  BundleLayout layout;
  layout.order = data_order(tensors, keys);
  std::vector<SafetensorsEntry> entries;
  std::map<std::string, std::string> notes = words;
  for (const std::size_t i : layout.order) {
    const KeptTensor& tensor = tensors[i];
    entries.push_back({keys[i], stored_dtype(tensor.dtype), stored_shape(tensor)});
    if (!has_safetensors_dtype(tensor.dtype)) notes[kDTypeNote + keys[i]] = trainwarden::name(tensor.dtype);
    if (tensor.dtype == DType::kString) notes[kStringsNote + keys[i]] = strings_note(tensor);
    layout.payload_bytes += stored_bytes(tensor);
  }
  layout.header = encode_safetensors_header(entries, notes);
  layout.payload_bytes += layout.header.size();
  return layout;
}

void append_data_parts(const KeptTensor& tensor, std::vector<ByteSpan>& parts) {
  if (tensor.dtype != DType::kString) {
    parts.push_back(tensor.data);
    return;
  }
  for (const std::string& text : tensor.strings) parts.push_back(as_bytes(text));
}

Result<std::vector<BundleEntry>> decode_bundle(ByteSpan prefix, std::uint64_t payload_bytes) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const SafetensorsHeader header, decode_safetensors_header(prefix, payload_bytes));
  std::vector<BundleEntry> entries;
  entries.reserve(header.entries.size());
  for (const SafetensorsEntry& stored : header.entries) {
    BundleEntry entry;
    Result<std::string> name = unescape_name(stored.name);
    if (!name.ok()) return in_tensor(stored.name, name.status().message());
    entry.name = *std::move(name);
    entry.begin = header.data_offset + stored.begin;
    entry.end = header.data_offset + stored.end;
    TRAINWARDEN_RETURN_IF_ERROR(restore_type(header, stored, entry));
    entries.push_back(std::move(entry));
  }
  return entries;
}

Result<TensorValue> decode_bundle_value(const BundleEntry& entry, ByteSpan bytes) {
  if (bytes.size() != entry.end - entry.begin) {
    return in_tensor(entry.name, fmt::format("expected {} bytes, found {}", entry.end - entry.begin, bytes.size()));
  }
  TensorValue value;
  value.dtype = entry.dtype;
  value.shape = entry.shape;
  if (entry.dtype != DType::kString) {
    value.data.assign(bytes.begin(), bytes.end());
    return value;
  }
  std::string_view text = as_text(bytes);
  value.strings.reserve(entry.string_lengths.size());
  for (const std::uint64_t length : entry.string_lengths) {
    value.strings.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return value;
}

}  // namespace trainwarden::format
