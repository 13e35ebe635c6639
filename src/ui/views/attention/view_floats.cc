#include "ui/views/attention/view_floats.h"

#include <cstddef>
#include <cstring>

#include "data/tensor/float_conversion.h"

namespace trainwarden::views::attention {

bool has_floats(const TensorView& view) {
  return is_floating_point(view.dtype) && view.contiguous && view.device.host_readable();
}

void read_floats(const TensorView& view, std::int64_t first, std::span<float> floats) {
  const std::size_t bytes = item_bytes(view.dtype);
  const auto* at = static_cast<const std::byte*>(view.data) + static_cast<std::size_t>(first) * bytes;
  if (view.dtype == DType::kFloat32) {
    std::memcpy(floats.data(), at, floats.size_bytes());
  } else if (view.dtype == DType::kFloat64) {
    for (float& number : floats) {
      double element = 0;
      std::memcpy(&element, at, sizeof element);
      number = static_cast<float>(element);
      at += sizeof element;
    }
  } else {
    convert_to_floats(view.dtype, at, floats.size(), floats.data());
  }
}

}  // namespace trainwarden::views::attention
