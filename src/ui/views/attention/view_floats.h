// Elements of a packed tensor of any floating-point type as float32.
#pragma once

#include <cstdint>
#include <span>

#include "trainwarden/tensor_view.h"

namespace trainwarden::views::attention {

// Types of which weights, queries and keys may be: floating point, float64 being rounded.
bool has_floats(const TensorView& view);

// The elements [first, first + floats.size()) in row-major order. The view is contiguous and has_floats().
void read_floats(const TensorView& view, std::int64_t first, std::span<float> floats);

}  // namespace trainwarden::views::attention
