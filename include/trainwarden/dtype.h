// The element types that training uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "trainwarden/export.h"

namespace trainwarden {

// The numbers go to disk (docs/format/records.md): append only.
enum class DType : std::uint8_t {
  kBool = 0,
  kInt8 = 1,
  kInt16 = 2,
  kInt32 = 3,
  kInt64 = 4,
  kUInt8 = 5,
  kUInt16 = 6,
  kUInt32 = 7,
  kUInt64 = 8,
  kFloat16 = 9,
  kBFloat16 = 10,
  kFloat32 = 11,
  kFloat64 = 12,
  kFloat8E4M3 = 13,  // the "fn" variant of OCP FP8: no infinity, one NaN pattern (S.1111.111)
  kFloat8E5M2 = 14,  // IEEE-like: infinities and NaNs
  kComplex64 = 15,   // two float32: real, imaginary
  kComplex128 = 16,  // two float64
  kString = 17,      // UTF-8 or raw bytes of any length, one for each element
};
inline constexpr int kDTypeCount = 18;

// Bytes of one element in memory; for kString the size of std::string_view.
TRAINWARDEN_API std::size_t item_bytes(DType dtype);

// "float32", "bfloat16", "float8_e4m3", "complex64", "string", ...
TRAINWARDEN_API std::string_view name(DType dtype);
TRAINWARDEN_API std::optional<DType> parse_dtype(std::string_view name);

TRAINWARDEN_API bool is_floating_point(DType dtype);  // float8 to float64; not complex
TRAINWARDEN_API bool is_complex(DType dtype);

}  // namespace trainwarden
