#include "read/transfer/npy.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/base/bytes.h"
#include "core/base/text.h"
#include "data/tensor/element.h"
#include "read/transfer/output_file.h"

namespace trainwarden::transfer {
namespace {

// NumPy's name of the element type; '<' is little-endian, '|' has no order. Of what npy_dtype() gives but texts.
std::string_view descriptor(DType dtype) {
  switch (dtype) {
    case DType::kBool: return "|b1";
    case DType::kInt8: return "|i1";
    case DType::kInt16: return "<i2";
    case DType::kInt32: return "<i4";
    case DType::kInt64: return "<i8";
    case DType::kUInt8: return "|u1";
    case DType::kUInt16: return "<u2";
    case DType::kUInt32: return "<u4";
    case DType::kUInt64: return "<u8";
    case DType::kFloat16: return "<f2";
    case DType::kFloat32: return "<f4";
    case DType::kFloat64: return "<f8";
    case DType::kComplex64: return "<c8";
    case DType::kComplex128: return "<c16";
    case DType::kBFloat16:
    case DType::kFloat8E4M3:
    case DType::kFloat8E5M2:
    case DType::kString: break;
  }
  return "";
}

// A Python tuple: "()", "(3,)", "(3, 4,)".
std::string tuple_of(const Shape& shape) {
  std::string text = "(";
  for (const std::int64_t size : shape.sizes()) text += fmt::format("{}{},", text.size() > 1 ? " " : "", size);
  return text + ")";
}

// Magic, version, the length of the dictionary, and the dictionary, padded so that the elements start at 64.
std::string header(std::string_view descriptor, const Shape& shape) {
  constexpr std::size_t kPreludeBytes = 10;
  constexpr std::size_t kAlignment = 64;
  std::string dictionary =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descriptor, tuple_of(shape));
  const std::size_t total = align_up(kPreludeBytes + dictionary.size() + 1, kAlignment);
  dictionary.resize(total - kPreludeBytes - 1, ' ');
  dictionary += '\n';

  std::string prelude("\x93NUMPY\x01\x00\x00\x00", kPreludeBytes);
  const auto dictionary_bytes = static_cast<std::uint16_t>(dictionary.size());
  std::memcpy(prelude.data() + 8, &dictionary_bytes, sizeof dictionary_bytes);
  return prelude + dictionary;
}

// The small types that NumPy lacks; float32 holds each of their values.
void append_widened(std::string& out, const TensorView& packed) {
  visit_component(packed.dtype, [&]<class T>(T component) {
    if constexpr (sizeof(T) <= 2 && !std::is_arithmetic_v<T>) {
      const auto* bytes = static_cast<const std::byte*>(packed.data);
      for (std::int64_t i = 0; i < packed.element_count(); ++i) {
        std::memcpy(&component, bytes + static_cast<std::size_t>(i) * sizeof(T), sizeof component);
        const float wide = to_float(component);
        out += as_text(std::as_bytes(std::span(&wide, 1)));
      }
    }
  });
}

std::string encode_texts(const TensorView& packed) {
  const auto* texts = static_cast<const std::string_view*>(packed.data);
  std::vector<std::u32string> wide;
  std::size_t width = 1;
  for (std::int64_t i = 0; i < packed.element_count(); ++i) {
    wide.push_back(to_utf32(texts[i]));
    width = std::max(width, wide.back().size());
  }
  std::string out = header(fmt::format("<U{}", width), packed.shape);
  for (std::u32string& text : wide) {
    text.resize(width, U'\0');
    out += as_text(std::as_bytes(std::span(text)));
  }
  return out;
}

}  // namespace

DType npy_dtype(DType dtype) {
  const bool missing_in_numpy = dtype == DType::kBFloat16 || dtype == DType::kFloat8E4M3 || dtype == DType::kFloat8E5M2;
  return missing_in_numpy ? DType::kFloat32 : dtype;
}

std::string encode_npy(const TensorView& packed) {
  if (packed.dtype == DType::kString) return encode_texts(packed);
  const DType dtype = npy_dtype(packed.dtype);
  std::string out = header(descriptor(dtype), packed.shape);
  if (dtype == packed.dtype) {
    out += as_text({static_cast<const std::byte*>(packed.data), packed.packed_bytes()});
  } else {
    append_widened(out, packed);
  }
  return out;
}

Status write_npy(const std::filesystem::path& path, const TensorValue& value) {
  TensorView view = value.view();
  const std::vector<std::string_view> texts(value.strings.begin(), value.strings.end());
  if (value.dtype == DType::kString) view.data = texts.data();
  OutputTally not_counted;
  return write_file(path, encode_npy(view), not_counted);
}

}  // namespace trainwarden::transfer
