// The elements of a value that was read back, as numbers.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "data/tensor/element.h"
#include "trainwarden/tensor_view.h"

namespace trainwarden::rules {

// An element of a complex tensor has two components, real and imaginary; strings have none.
inline std::int64_t component_count(const TensorView& view) {
  return view.dtype == DType::kString ? 0 : view.element_count() * components_per_element(view.dtype);
}

// Calls visit(double) for `count` components from `first` on, in row-major order. `view` must be packed and on the
// host, as StepWindow::value() gives it; it need not be aligned.
template <class Visit>
void visit_components(const TensorView& view, std::int64_t first, std::int64_t count, Visit&& visit) {
  visit_component(view.dtype, [&]<class T>(T component) {
    const auto* at = static_cast<const char*>(view.data) + first * static_cast<std::int64_t>(sizeof component);
    for (std::int64_t i = 0; i < count; ++i, at += sizeof component) {
      std::memcpy(&component, at, sizeof component);
      if constexpr (std::is_arithmetic_v<T>) {
        visit(static_cast<double>(component));
      } else {
        visit(static_cast<double>(to_float(component)));
      }
    }
  });
}

inline std::vector<double> components_of(const TensorView& view, std::int64_t first, std::int64_t count) {
  std::vector<double> components;
  components.reserve(static_cast<std::size_t>(count));
  visit_components(view, first, count, [&](double component) { components.push_back(component); });
  return components;
}

inline std::vector<double> components_of(const TensorView& view) {
  return components_of(view, 0, component_count(view));
}

}  // namespace trainwarden::rules
