#include "data/device/device_span.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace trainwarden::device {
namespace {

constexpr std::size_t kRank = Shape::kMaxRank;

// Whether the dimensions, from the one with the smallest stride on, follow on one another without gap or overlap.
bool is_dense(const TensorView& view) {
  std::array<std::pair<std::int64_t, std::int64_t>, kRank> dimensions;  // stride, size
  std::size_t rank = 0;
  for (int d = 0; d < view.shape.rank(); ++d) {
    if (view.shape[d] != 1) dimensions[rank++] = {std::abs(view.strides[static_cast<std::size_t>(d)]), view.shape[d]};
  }
  std::sort(dimensions.begin(), dimensions.begin() + static_cast<std::ptrdiff_t>(rank));
  std::int64_t expected = 1;
  for (std::size_t d = 0; d < rank; ++d) {
    if (dimensions[d].first != expected) return false;
    expected *= dimensions[d].second;
  }
  return true;
}

}  // namespace

Result<DeviceSpan> span_of(const TensorView& view) {
  if (view.dtype == DType::kString) return Status(Code::kInvalidArgument, "strings on a device");
  DeviceSpan span;
  span.address = reinterpret_cast<std::uintptr_t>(view.data);
  span.bytes = view.packed_bytes();
  if (span.bytes == 0) return span;
  if (view.data == nullptr) return Status(Code::kInvalidArgument, "it has no memory");
  if (view.contiguous) return span;
  std::size_t below = 0;  // elements before the first one
  std::size_t above = 0;
  for (int d = 0; d < view.shape.rank(); ++d) {
    const std::int64_t reach = view.strides[static_cast<std::size_t>(d)] * (view.shape[d] - 1);
    (reach < 0 ? below : above) += static_cast<std::size_t>(std::abs(reach));
  }
  const std::size_t item = item_bytes(view.dtype);
  const std::size_t spanned = (below + above + 1) * item;
  if (spanned / kMostGaps > span.bytes) {
    return Status(Code::kInvalidArgument,
                  fmt::format("its elements are spread over {} times their size; save a contiguous copy of it",
                              spanned / span.bytes));
  }
  span.bytes = spanned;
  span.first_offset = below * item;
  span.address -= span.first_offset;
  span.dense = is_dense(view);
  return span;
}

TensorView view_of_copy(const TensorView& view, const DeviceSpan& span, const void* memory) {
  TensorView copy = view;
  copy.data = static_cast<const std::byte*>(memory) + span.first_offset;
  copy.device = Device();
  return copy;
}

}  // namespace trainwarden::device
