// The elements of a packed tensor as numbers, one after the other.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

#include "tensor/element.h"
#include "trainwarden/tensor_view.h"

namespace trainwarden::rules {

// Calls visit(value) with each element as double, in row-major order. Nothing for strings and complex numbers.
template <class Visit>
void visit_numbers(const TensorView& packed, Visit visit) {
  if (is_complex(packed.dtype)) return;
  visit_component(packed.dtype, [&]<class T>(T component) {
    const auto* bytes = static_cast<const std::byte*>(packed.data);
    const std::int64_t count = packed.element_count();
    for (std::int64_t i = 0; i < count; ++i, bytes += sizeof component) {
      std::memcpy(&component, bytes, sizeof component);
      if constexpr (std::is_arithmetic_v<T>) {
        visit(static_cast<double>(component));
      } else {
        visit(static_cast<double>(to_float(component)));
      }
    }
  });
}

}  // namespace trainwarden::rules
