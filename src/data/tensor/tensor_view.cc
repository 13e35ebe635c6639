#include "trainwarden/tensor_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <limits>

#include "data/tensor/strided_reader.h"

namespace trainwarden {
namespace {

// So that the bytes of any tensor can be counted in 63 bits.
constexpr std::int64_t kMaxElements = std::numeric_limits<std::int64_t>::max() / 16;

std::string list_to_string(std::span<const std::int64_t> numbers) {
  return fmt::format("[{}]", fmt::join(numbers.begin(), numbers.end(), ", "));
}

// Row-major without gaps? Strides of dimensions of size 1 mean nothing.
bool is_row_major(std::span<const std::int64_t> sizes, std::span<const std::int64_t> strides) {
  std::int64_t expected = 1;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] != 1 && strides[d] != expected) return false;
    expected *= sizes[d];
  }
  return true;
}

}  // namespace

Shape::Shape(std::initializer_list<std::int64_t> sizes) {
  assert(sizes.size() <= static_cast<std::size_t>(kMaxRank));
  rank_ = static_cast<int>(std::min(sizes.size(), sizes_.size()));
  std::copy_n(sizes.begin(), rank_, sizes_.begin());
}

Result<Shape> Shape::from(std::span<const std::int64_t> sizes) {
  if (sizes.size() > static_cast<std::size_t>(kMaxRank)) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("a shape of {} dimensions; at most {} are supported, reshape first", sizes.size(), kMaxRank));
  }
  if (std::any_of(sizes.begin(), sizes.end(), [](std::int64_t size) { return size < 0; })) {
    return Status(Code::kInvalidArgument, fmt::format("shape {} has a negative size", list_to_string(sizes)));
  }
  Shape shape;
  shape.rank_ = static_cast<int>(sizes.size());
  std::copy(sizes.begin(), sizes.end(), shape.sizes_.begin());
  if (shape.element_count() > kMaxElements) {
    return Status(Code::kInvalidArgument,
                  fmt::format("shape {} has more than {} elements", list_to_string(sizes), kMaxElements));
  }
  return shape;
}

std::int64_t Shape::element_count() const {
  const std::span<const std::int64_t> all = sizes();
  if (std::find(all.begin(), all.end(), 0) != all.end()) return 0;
  std::int64_t count = 1;
  for (const std::int64_t size : all) {
    if (__builtin_mul_overflow(count, size, &count)) return std::numeric_limits<std::int64_t>::max();
  }
  return count;
}

std::string Shape::to_string() const {
  return list_to_string(sizes());
}

bool operator==(const Shape& a, const Shape& b) {
  return std::ranges::equal(a.sizes(), b.sizes());
}

TensorView TensorView::of(const void* data, DType dtype, const Shape& shape, Device device) {
  TensorView view;
  view.data = data;
  view.dtype = dtype;
  view.shape = shape;
  view.device = device;
  return view;
}

Result<TensorView> TensorView::strided(const void* data, DType dtype, std::span<const std::int64_t> shape,
                                       std::span<const std::int64_t> strides, Device device) {
  if (shape.size() != strides.size()) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{} sizes but {} strides; each dimension needs both", shape.size(), strides.size()));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const Shape checked, Shape::from(shape));
  TensorView view = of(data, dtype, checked, device);
  view.contiguous = checked.element_count() == 0 || is_row_major(shape, strides);
  if (!view.contiguous) std::copy(strides.begin(), strides.end(), view.strides.begin());
  return view;
}

std::size_t TensorView::packed_bytes() const {
  return static_cast<std::size_t>(element_count()) * item_bytes(dtype);
}

Status copy_packed(const TensorView& view, void* destination) {
  TRAINWARDEN_RETURN_IF_ERROR(check_readable(view));
  if (!view.contiguous) {
    StridedReader(view).read(view.element_count(), destination);
  } else if (const std::size_t bytes = view.packed_bytes(); bytes > 0) {
    std::memcpy(destination, view.data, bytes);
  }
  return {};
}

}  // namespace trainwarden
