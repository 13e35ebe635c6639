// The products of one vector with many, in float32.
#pragma once

#include <span>

namespace trainwarden {

// products[i] = vector · rows[i]; `rows` are packed and at least as many as `products`. Uses the CPU's vectors: sums
// are made in several lanes, so their last bits differ between CPUs.
void dot_products(std::span<const float> vector, std::span<const float> rows, std::span<float> products);

}  // namespace trainwarden
