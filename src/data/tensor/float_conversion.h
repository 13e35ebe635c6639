// Components of the types whose every value is a float32, as float32.
#pragma once

#include <cstddef>
#include <type_traits>

#include "trainwarden/dtype.h"

namespace trainwarden {

// bool, integers of up to 16 bits, floating-point types of up to 32 bits.
template <class T>
inline constexpr bool kIsExactInFloat = !std::is_same_v<T, double> && !(std::is_integral_v<T> && sizeof(T) >= 4);

// `components` are aligned for their type; `dtype` is one with such components. Uses the CPU's vectors.
void convert_to_floats(DType dtype, const void* components, std::size_t count, float* floats);

}  // namespace trainwarden
