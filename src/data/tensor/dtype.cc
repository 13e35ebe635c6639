#include "trainwarden/dtype.h"

#include <array>

namespace trainwarden {
namespace {

struct Facts {
  std::string_view name;
  std::size_t item_bytes;
};

// By the number of the DType.
constexpr std::array<Facts, kDTypeCount> kFacts = {{
    {"bool", 1},
    {"int8", 1},
    {"int16", 2},
    {"int32", 4},
    {"int64", 8},
    {"uint8", 1},
    {"uint16", 2},
    {"uint32", 4},
    {"uint64", 8},
    {"float16", 2},
    {"bfloat16", 2},
    {"float32", 4},
    {"float64", 8},
    {"float8_e4m3", 1},
    {"float8_e5m2", 1},
    {"complex64", 8},
    {"complex128", 16},
    {"string", sizeof(std::string_view)},
}};

}  // namespace

std::size_t item_bytes(DType dtype) {
  const auto index = static_cast<std::size_t>(dtype);
  return index < kFacts.size() ? kFacts[index].item_bytes : 0;
}

std::string_view name(DType dtype) {
  const auto index = static_cast<std::size_t>(dtype);
  return index < kFacts.size() ? kFacts[index].name : "unknown dtype";
}

std::optional<DType> parse_dtype(std::string_view name) {
  for (std::size_t index = 0; index < kFacts.size(); ++index) {
    if (kFacts[index].name == name) return static_cast<DType>(index);
  }
  return std::nullopt;
}

bool is_floating_point(DType dtype) {
  switch (dtype) {
    case DType::kFloat8E4M3:
    case DType::kFloat8E5M2:
    case DType::kFloat16:
    case DType::kBFloat16:
    case DType::kFloat32:
    case DType::kFloat64: return true;
    default: return false;
  }
}

bool is_complex(DType dtype) {
  return dtype == DType::kComplex64 || dtype == DType::kComplex128;
}

}  // namespace trainwarden
