// TensorProto: values from tensor_content or from the list that belongs to the dtype.
#include "data/foreign/tf_tensor.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "data/foreign/protobuf_wire.h"

namespace trainwarden::foreign {
namespace {

enum TensorField : std::uint32_t { kDTypeField = 1, kShapeField = 2, kContentField = 4, kStringsField = 8 };
enum ShapeField : std::uint32_t { kDimField = 2, kUnknownRankField = 3 };
enum DimField : std::uint32_t { kSizeField = 1, kNameField = 2 };

constexpr std::int32_t kTfNone = 0;

// By the number of our DType.
constexpr std::array<std::int32_t, kDTypeCount> kTfDTypes = {10, 6,  5, 3, 9,  4,  17, 22, 23,
                                                             19, 14, 1, 2, 25, 24, 8,  18, 7};

// The typed list that values of a dtype lie in when there is no tensor_content.
struct ListForm {
  std::uint32_t field = 0;
  WireType type = WireType::kVarint;
  std::size_t number_bytes = 0;  // of one number in memory: a complex element is two
};

ListForm list_form(DType dtype) {
  switch (dtype) {
    case DType::kFloat32: return {5, WireType::kFixed32, 4};
    case DType::kFloat64: return {6, WireType::kFixed64, 8};
    case DType::kComplex64: return {9, WireType::kFixed32, 4};
    case DType::kComplex128: return {12, WireType::kFixed64, 8};
    case DType::kInt64: return {10, WireType::kVarint, 8};
    case DType::kBool: return {11, WireType::kVarint, 1};
    case DType::kFloat16:
    case DType::kBFloat16: return {13, WireType::kVarint, 2};
    case DType::kUInt32: return {16, WireType::kVarint, 4};
    case DType::kUInt64: return {17, WireType::kVarint, 8};
    case DType::kFloat8E4M3:
    case DType::kFloat8E5M2: return {18, WireType::kBytes, 1};
    case DType::kString: return {kStringsField, WireType::kBytes, 0};
    default: return {7, WireType::kVarint, item_bytes(dtype)};  // the shorter integers
  }
}

// What a tensor's message says besides its lists.
struct TensorFacts {
  std::int32_t tf_dtype = kTfNone;
  std::vector<std::int64_t> sizes;
  bool unknown_rank = false;
  bool has_strings = false;
  ByteSpan content;
};

Status read_dim(ByteSpan message, std::vector<std::int64_t>& sizes) {
  std::int64_t size = 0;
  TRAINWARDEN_RETURN_IF_ERROR(for_each_field(message, "Dim", [&](const WireField& field) {
    return field.number == kSizeField ? field.read(size) : Status();
  }));
  if (sizes.size() == Shape::kMaxRank) {
    return Status(Code::kDataLoss, fmt::format("at most {} dimensions expected, more found", Shape::kMaxRank));
  }
  sizes.push_back(size);
  return {};
}

Status read_tensor_shape(ByteSpan message, TensorFacts& facts) {
  return for_each_field(message, "TensorShapeProto", [&](const WireField& field) {
    if (field.number == kUnknownRankField) return field.read(facts.unknown_rank);
    return field.number == kDimField ? read_message(field, facts.sizes, read_dim) : Status();
  });
}

Result<TensorFacts> read_facts(ByteSpan message) {
  TensorFacts facts;
  TRAINWARDEN_RETURN_IF_ERROR(for_each_field(message, "TensorProto", [&](const WireField& field) {
    switch (field.number) {
      case kDTypeField: return field.read(facts.tf_dtype);
      case kContentField: return field.read(facts.content);
      case kStringsField: facts.has_strings = true; return Status();
      case kShapeField: return read_message(field, facts, read_tensor_shape);
      default: return Status();
    }
  }));
  return facts;
}

Result<Shape> shape_of(const TensorFacts& facts) {
  if (facts.unknown_rank) return Status(Code::kDataLoss, "TensorProto: expected a shape, found an unknown rank");
  Result<Shape> shape = Shape::from(facts.sizes);
  if (!shape.ok()) return Status(Code::kDataLoss, "TensorProto: " + shape.status().message());
  return shape;
}

Result<DType> dtype_of(const TensorFacts& facts, const Shape& shape) {
  if (const std::optional<DType> dtype = dtype_of_tf(facts.tf_dtype)) return *dtype;
  if (facts.tf_dtype != kTfNone) {
    return Status(Code::kUnimplemented,
                  fmt::format("TensorProto: TensorFlow's dtype number {} has no counterpart here", facts.tf_dtype));
  }
  // smdebug leaves the dtype of strings out, and of none there is nothing to see.
  if (facts.has_strings || shape.element_count() == 0) return DType::kString;
  return Status(Code::kDataLoss, "TensorProto: expected a dtype, found none");
}

Status wrong_count(const Shape& shape, std::uint64_t found) {
  return Status(Code::kDataLoss, fmt::format("TensorProto: shape {} has {} elements, {} found", shape.to_string(),
                                             shape.element_count(), found));
}

Status read_content(ByteSpan content, TensorValue& value) {
  if (value.dtype == DType::kString) {
    return Status(Code::kUnimplemented, "TensorProto: strings in tensor_content; only those in string_val are read");
  }
  const std::size_t item = item_bytes(value.dtype);
  const auto count = static_cast<std::uint64_t>(value.shape.element_count());  // Shape keeps count × 16 below 2^63
  if (content.size() != count * item) {
    return Status(Code::kDataLoss, fmt::format("TensorProto: {} of shape {} has {} bytes, {} found", name(value.dtype),
                                               value.shape.to_string(), count * item, content.size()));
  }
  value.data.assign(content.begin(), content.end());
  return {};
}

// Appends what one field of the list holds.
Status append_numbers(const WireField& field, const ListForm& form, std::vector<std::byte>& data) {
  if (form.type == WireType::kBytes) {
    ByteSpan bytes;
    TRAINWARDEN_RETURN_IF_ERROR(field.read(bytes));
    data.insert(data.end(), bytes.begin(), bytes.end());
    return {};
  }
  return for_each_number(field, form.type, [&](std::uint64_t bits) {
    const ByteSpan low = std::as_bytes(std::span(&bits, 1)).first(form.number_bytes);
    data.insert(data.end(), low.begin(), low.end());
    return Status();
  });
}

Status check_repeat(const Shape& shape, std::uint64_t found, std::uint64_t item) {
  const auto count = static_cast<std::uint64_t>(shape.element_count());
  if (found == count) return {};
  if (found == 0 || found > count) return wrong_count(shape, found);
  if (item <= kMaxRepeatedBytes && count <= kMaxRepeatedBytes / item) return {};
  return Status(Code::kResourceExhausted,
                fmt::format("TensorProto: {} values would be repeated to shape {}; at most {} bytes are made that way",
                            found, shape.to_string(), kMaxRepeatedBytes));
}

Status read_numbers(ByteSpan message, TensorValue& value) {
  const ListForm form = list_form(value.dtype);
  TRAINWARDEN_RETURN_IF_ERROR(for_each_field(message, "TensorProto", [&](const WireField& field) {
    return field.number == form.field ? append_numbers(field, form, value.data) : Status();
  }));
  const std::size_t item = item_bytes(value.dtype);
  const std::size_t found = value.data.size() / item;
  if (value.data.size() % item != 0) {
    return Status(Code::kDataLoss, fmt::format("TensorProto: half an element of {} found", name(value.dtype)));
  }
  TRAINWARDEN_RETURN_IF_ERROR(check_repeat(value.shape, found, item));
  const auto wanted = static_cast<std::size_t>(value.shape.element_count()) * item;
  value.data.reserve(wanted);
  while (value.data.size() < wanted) value.data.push_back(value.data[value.data.size() - item]);
  return {};
}

Status read_strings(ByteSpan message, TensorValue& value) {
  TRAINWARDEN_RETURN_IF_ERROR(for_each_field(message, "TensorProto", [&](const WireField& field) {
    return field.number == kStringsField ? field.read(value.strings.emplace_back()) : Status();
  }));
  const std::size_t last_bytes = value.strings.empty() ? 0 : value.strings.back().size();
  TRAINWARDEN_RETURN_IF_ERROR(check_repeat(value.shape, value.strings.size(), sizeof(std::string) + last_bytes));
  const std::string last = value.strings.empty() ? "" : value.strings.back();
  value.strings.resize(static_cast<std::size_t>(value.shape.element_count()), last);
  return {};
}

std::string encode_shape(const Shape& shape, std::optional<std::string_view> smdebug_tag) {
  WireWriter writer;
  for (const std::int64_t size : shape.sizes()) {
    WireWriter dim;
    dim.put(kSizeField, size);
    if (smdebug_tag) dim.put(kNameField, fmt::format("{}_{}", *smdebug_tag, size));
    writer.put_always(kDimField, dim.text());
  }
  return std::move(writer).take();
}

}  // namespace

std::int32_t tf_dtype(DType dtype) {
  return kTfDTypes[static_cast<std::size_t>(dtype)];
}

std::optional<DType> dtype_of_tf(std::int32_t tf_dtype) {
  const auto* found = std::find(kTfDTypes.begin(), kTfDTypes.end(), tf_dtype);
  if (found == kTfDTypes.end()) return std::nullopt;
  return static_cast<DType>(found - kTfDTypes.begin());
}

TensorMessage encode_tensor(const TensorView& tensor, std::optional<std::string_view> smdebug_tag) {
  const bool strings = tensor.dtype == DType::kString;
  const auto count = static_cast<std::size_t>(tensor.element_count());
  WireWriter writer;
  if (!strings || !smdebug_tag) writer.put(kDTypeField, std::int64_t{tf_dtype(tensor.dtype)});
  writer.put_always(kShapeField, encode_shape(tensor.shape, smdebug_tag));
  if (strings) {
    for (const auto text : std::span(static_cast<const std::string_view*>(tensor.data), count)) {
      writer.put_always(kStringsField, text);
    }
    return {std::move(writer).take(), {}};
  }
  const ByteSpan content(static_cast<const std::byte*>(tensor.data), tensor.packed_bytes());
  if (!content.empty()) writer.start_bytes(kContentField, content.size());
  return {std::move(writer).take(), content};
}

Result<TensorValue> decode_tensor(ByteSpan message) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const TensorFacts facts, read_facts(message));
  TensorValue value;
  TRAINWARDEN_ASSIGN_OR_RETURN(value.shape, shape_of(facts));
  TRAINWARDEN_ASSIGN_OR_RETURN(value.dtype, dtype_of(facts, value.shape));
  if (!facts.content.empty()) {
    TRAINWARDEN_RETURN_IF_ERROR(read_content(facts.content, value));
  } else if (value.dtype == DType::kString) {
    TRAINWARDEN_RETURN_IF_ERROR(read_strings(message, value));
  } else {
    TRAINWARDEN_RETURN_IF_ERROR(read_numbers(message, value));
  }
  return value;
}

Result<std::pair<DType, Shape>> decode_tensor_shape(ByteSpan message) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const TensorFacts facts, read_facts(message));
  TRAINWARDEN_ASSIGN_OR_RETURN(const Shape shape, shape_of(facts));
  TRAINWARDEN_ASSIGN_OR_RETURN(const DType dtype, dtype_of(facts, shape));
  return std::pair(dtype, shape);
}

}  // namespace trainwarden::foreign
