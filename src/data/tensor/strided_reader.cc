#include "data/tensor/strided_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace trainwarden {
namespace {

template <std::size_t kBytes>
void gather(const std::byte* source, std::int64_t stride_bytes, std::int64_t count, std::byte* destination) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(destination, source, kBytes);
    source += stride_bytes;
    destination += kBytes;
  }
}

void copy_row(const std::byte* source, std::int64_t stride_bytes, std::size_t item_bytes, std::int64_t count,
              std::byte* destination) {
  if (stride_bytes == static_cast<std::int64_t>(item_bytes)) {
    std::memcpy(destination, source, static_cast<std::size_t>(count) * item_bytes);
    return;
  }
  switch (item_bytes) {
    case 1: return gather<1>(source, stride_bytes, count, destination);
    case 2: return gather<2>(source, stride_bytes, count, destination);
    case 4: return gather<4>(source, stride_bytes, count, destination);
    case 8: return gather<8>(source, stride_bytes, count, destination);
    default: return gather<16>(source, stride_bytes, count, destination);
  }
}

std::string device_name(const Device& device) {
  switch (device.type) {
    case DeviceType::kCpu: return "the CPU";
    case DeviceType::kCuda: return fmt::format("cuda:{}", device.index);
    case DeviceType::kCudaHost: return "CUDA host memory";
    case DeviceType::kRocm: return fmt::format("rocm:{}", device.index);
    case DeviceType::kRocmHost: return "ROCm host memory";
    case DeviceType::kCudaManaged: return "CUDA managed memory";
  }
  return fmt::format("device type {}", static_cast<std::int32_t>(device.type));
}

}  // namespace

Status check_readable(const TensorView& view) {
  if (!view.device.host_readable()) {
    return Status(Code::kFailedPrecondition, fmt::format("the tensor lies on {}, which the CPU cannot read; copy it to "
                                                         "host memory first",
                                                         device_name(view.device)));
  }
  if (view.data == nullptr && view.element_count() > 0) {
    return Status(Code::kInvalidArgument,
                  fmt::format("a tensor of shape {} without data (null pointer)", view.shape.to_string()));
  }
  return {};
}

StridedReader::StridedReader(const TensorView& view, std::int64_t first)
    : item_bytes_(item_bytes(view.dtype)), data_(static_cast<const std::byte*>(view.data)) {
  const auto bytes = static_cast<std::int64_t>(item_bytes_);
  if (view.contiguous) {
    add_dimension(view.element_count(), bytes);
  } else {
    for (int d = 0; d < view.shape.rank(); ++d) {
      if (view.shape[d] != 1) add_dimension(view.shape[d], view.strides[static_cast<std::size_t>(d)] * bytes);
    }
    if (rank_ == 0) add_dimension(1, bytes);
  }
  seek(first);
}

void StridedReader::add_dimension(std::int64_t size, std::int64_t stride_bytes) {
  if (rank_ > 0) {
    Dimension& outer = dimensions_[static_cast<std::size_t>(rank_ - 1)];
    if (outer.stride_bytes == stride_bytes * size) {
      outer = {outer.size * size, stride_bytes, 0};
      return;
    }
  }
  dimensions_[static_cast<std::size_t>(rank_++)] = {size, stride_bytes, 0};
}

void StridedReader::seek(std::int64_t first) {
  for (int d = rank_ - 1; d >= 0; --d) {
    Dimension& dimension = dimensions_[static_cast<std::size_t>(d)];
    if (dimension.size == 0) return;
    // The outermost index may be one past the end, for a reader that has nothing left.
    dimension.index = d == 0 ? first : first % dimension.size;
    first /= dimension.size;
    if (d != rank_ - 1) row_bytes_ += dimension.index * dimension.stride_bytes;
  }
}

// Moves on by one in the dimension outside the innermost, carrying outwards.
void StridedReader::next_row() {
  for (int d = rank_ - 2; d >= 0; --d) {
    Dimension& dimension = dimensions_[static_cast<std::size_t>(d)];
    row_bytes_ += dimension.stride_bytes;
    if (++dimension.index < dimension.size || d == 0) return;
    row_bytes_ -= dimension.size * dimension.stride_bytes;
    dimension.index = 0;
  }
}

void StridedReader::read(std::int64_t count, void* destination) {
  Dimension& inner = dimensions_[static_cast<std::size_t>(rank_ - 1)];
  auto* to = static_cast<std::byte*>(destination);
  while (count > 0) {
    const std::int64_t piece = std::min(count, inner.size - inner.index);
    copy_row(data_ + row_bytes_ + inner.index * inner.stride_bytes, inner.stride_bytes, item_bytes_, piece, to);
    to += piece * static_cast<std::int64_t>(item_bytes_);
    count -= piece;
    inner.index += piece;
    if (inner.index == inner.size && rank_ > 1) {
      inner.index = 0;
      next_row();
    }
  }
}

}  // namespace trainwarden
