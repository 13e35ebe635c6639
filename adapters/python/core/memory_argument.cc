#include "memory_argument.h"

#include <array>
#include <cstdint>
#include <span>

#include "errors.h"

namespace trainwarden::python {
namespace {

namespace nb = nanobind;

struct Sizes {
  std::array<std::int64_t, Shape::kMaxRank> values;
  std::size_t rank = 0;
  std::span<const std::int64_t> span() const { return {values.data(), rank}; }
};

// torch.Size is a tuple, too.
Sizes sizes_of(nb::handle given, const char* what) {
  if (!PyTuple_Check(given.ptr())) throw nb::type_error(what);
  const auto tuple = nb::borrow<nb::tuple>(given);
  Sizes sizes;
  sizes.rank = tuple.size();
  if (sizes.rank > sizes.values.size()) throw nb::value_error("expected at most 16 dimensions");
  for (std::size_t i = 0; i < sizes.rank; ++i) {
    sizes.values[i] = PyLong_AsLongLong(tuple[i].ptr());
    if (sizes.values[i] == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  }
  return sizes;
}

}  // namespace

TensorView MemoryArgument::view() const {
  if (dtype < 0 || dtype >= static_cast<int>(DType::kString)) {
    throw nb::value_error("expected a number of trainwarden._core.dtype_code() as dtype");
  }
  const auto type = static_cast<DType>(dtype);
  const Device device{static_cast<DeviceType>(device_type), device_index};
  const Sizes sizes = sizes_of(shape, "expected the shape as a tuple of int");
  if (strides.is_none()) return TensorView::of(nullptr, type, value_or_raise(Shape::from(sizes.span())), device);
  const Sizes steps = sizes_of(strides, "expected the strides as a tuple of int, or None");
  return value_or_raise(TensorView::strided(nullptr, type, sizes.span(), steps.span(), device));
}

}  // namespace trainwarden::python
