#include "trainwarden/tensor_value.h"

#include <cstring>
#include <type_traits>

#include "data/tensor/element.h"

namespace trainwarden {
namespace {

template <class T>
double to_double(T value) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<double>(value);
  } else {
    return static_cast<double>(to_float(value));
  }
}

}  // namespace

TensorView TensorValue::view() const {
  return TensorView::of(data.data(), dtype, shape);
}

std::vector<double> TensorValue::to_doubles() const {
  std::vector<double> numbers;
  visit_component(dtype, [&]<class T>(T component) {
    const std::size_t bytes = item_bytes(dtype);
    numbers.reserve(data.size() / bytes);
    for (std::size_t at = 0; at + bytes <= data.size(); at += bytes) {
      std::memcpy(&component, data.data() + at, sizeof component);
      numbers.push_back(to_double(component));
    }
  });
  return numbers;
}

}  // namespace trainwarden
