// DeviceSpan: the memory that a tensor's elements lie in, from the lowest to the highest.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trainwarden/status.h"
#include "trainwarden/tensor_view.h"

namespace trainwarden::device {

struct DeviceSpan {
  std::uint64_t address = 0;     // of the lowest element
  std::size_t bytes = 0;         // from there to the end of the highest
  std::size_t first_offset = 0;  // in bytes, from the lowest element to the first one
  bool dense = true;             // each element once, without gaps; in what order is another matter
};

// Of a tensor on a device. kInvalidArgument: no memory, strings, or elements so far apart that the memory between them
// is more than kMostGaps times theirs.
Result<DeviceSpan> span_of(const TensorView& view);
inline constexpr std::size_t kMostGaps = 4;

// The same tensor after its span was copied to `memory`.
TensorView view_of_copy(const TensorView& view, const DeviceSpan& span, const void* memory);

}  // namespace trainwarden::device
