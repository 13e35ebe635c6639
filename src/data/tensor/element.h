// From a DType to the C++ type of its components, for code that is written once for all of them.
#pragma once

#include <cstdint>

#include "data/tensor/half.h"
#include "trainwarden/dtype.h"

namespace trainwarden {

// kBool in memory: any byte but 0 is true.
struct Bool8 {
  std::uint8_t bits;
};

constexpr float to_float(Bool8 value) {
  return value.bits != 0 ? 1.0f : 0.0f;
}

// 2 for complex (real, imaginary), else 1.
inline std::int64_t components_per_element(DType dtype) {
  return is_complex(dtype) ? 2 : 1;
}

// Calls visitor(T{}) with the type T of a component of `dtype`; does nothing for kString.
template <class Visitor>
void visit_component(DType dtype, Visitor&& visitor) {
  switch (dtype) {
    case DType::kBool: return visitor(Bool8{});
    case DType::kInt8: return visitor(std::int8_t{});
    case DType::kInt16: return visitor(std::int16_t{});
    case DType::kInt32: return visitor(std::int32_t{});
    case DType::kInt64: return visitor(std::int64_t{});
    case DType::kUInt8: return visitor(std::uint8_t{});
    case DType::kUInt16: return visitor(std::uint16_t{});
    case DType::kUInt32: return visitor(std::uint32_t{});
    case DType::kUInt64: return visitor(std::uint64_t{});
    case DType::kFloat16: return visitor(Float16{});
    case DType::kBFloat16: return visitor(BFloat16{});
    case DType::kFloat32:
    case DType::kComplex64: return visitor(float{});
    case DType::kFloat64:
    case DType::kComplex128: return visitor(double{});
    case DType::kFloat8E4M3: return visitor(Float8E4M3{});
    case DType::kFloat8E5M2: return visitor(Float8E5M2{});
    case DType::kString: return;
  }
}

}  // namespace trainwarden
