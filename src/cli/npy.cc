#include "cli/npy.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

#include <fmt/format.h>

#include "base/bytes.h"

namespace trainwarden::cli {
namespace {

// NumPy's name of the element type; '<' is little-endian, '|' has no order.
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
    case DType::kString: break;  // npy_dtype() has taken these away
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
std::string header(DType dtype, const Shape& shape) {
  constexpr std::size_t kPreludeBytes = 10;
  constexpr std::size_t kAlignment = 64;
  std::string dictionary =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", descriptor(dtype), tuple_of(shape));
  const std::size_t total = align_up(kPreludeBytes + dictionary.size() + 1, kAlignment);
  dictionary.resize(total - kPreludeBytes - 1, ' ');
  dictionary += '\n';

  std::string prelude("\x93NUMPY\x01\x00\x00\x00", kPreludeBytes);
  const auto dictionary_bytes = static_cast<std::uint16_t>(dictionary.size());
  std::memcpy(prelude.data() + 8, &dictionary_bytes, sizeof dictionary_bytes);
  return prelude + dictionary;
}

std::string widened_to_float32(const TensorValue& value) {
  const std::vector<double> elements = value.to_doubles();
  const std::vector<float> narrow(elements.begin(), elements.end());
  return std::string(as_text(std::as_bytes(std::span(narrow))));
}

}  // namespace

DType npy_dtype(DType dtype) {
  const bool missing_in_numpy = dtype == DType::kBFloat16 || dtype == DType::kFloat8E4M3 || dtype == DType::kFloat8E5M2;
  return missing_in_numpy ? DType::kFloat32 : dtype;
}

Result<std::string> encode_npy(const TensorValue& value) {
  if (value.dtype == DType::kString) {
    return Status(Code::kInvalidArgument, "strings cannot be written as .npy; use --json, which lists them");
  }
  const DType dtype = npy_dtype(value.dtype);
  return header(dtype, value.shape) +
         (dtype == value.dtype ? std::string(as_text(value.data)) : widened_to_float32(value));
}

Status write_npy(const std::filesystem::path& path, const TensorValue& value) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string bytes, encode_npy(value));
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (file) return {};
  return Status(Code::kInternal, fmt::format("cannot write {}: {}", path.string(), std::strerror(errno)));
}

}  // namespace trainwarden::cli
