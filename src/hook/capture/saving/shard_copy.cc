#include "hook/capture/saving/shard_copy.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

namespace trainwarden::capture {
namespace {

// How many of the last dimensions lie in the whole as they lie in the part: one run of memory for each index of those
// before.
int joined_dimensions(const Shape& part, const Shape& whole) {
  int joined = 0;
  while (joined < part.rank() && part[part.rank() - 1 - joined] == whole[part.rank() - 1 - joined]) ++joined;
  return joined;
}

// The place of an index in a row-major tensor.
std::size_t place_of(const Shape& shape, std::span<const std::int64_t> index) {
  std::int64_t place = 0;
  for (int i = 0; i < shape.rank(); ++i) place = place * shape[i] + index[static_cast<std::size_t>(i)];
  return static_cast<std::size_t>(place);
}

// The next index in row-major order over the first `dimensions` of the part. False behind the last.
bool advance(std::vector<std::int64_t>& index, const Shape& part, std::span<const std::int64_t> offsets,
             int dimensions) {
  for (int i = dimensions - 1; i >= 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    if (++index[at] < offsets[at] + part[i]) return true;
    index[at] = offsets[at];
  }
  return false;
}

}  // namespace

Status copy_shard(const TensorView& part, const Shape& shape, std::span<const std::int64_t> offsets,
                  MutableByteSpan whole) {
  if (part.element_count() == 0) return Status();
  std::vector<std::byte> packed;
  const auto* from = static_cast<const std::byte*>(part.data);
  if (!part.contiguous) {
    packed.resize(part.packed_bytes());
    TRAINWARDEN_RETURN_IF_ERROR(copy_packed(part, packed.data()));
    from = packed.data();
  }
  const int outer = std::max(0, part.shape.rank() - joined_dimensions(part.shape, shape) - 1);
  std::size_t run = item_bytes(part.dtype);
  for (int i = outer; i < part.shape.rank(); ++i) run *= static_cast<std::size_t>(part.shape[i]);
  std::vector<std::int64_t> index(offsets.begin(), offsets.end());
  do {
    std::memcpy(whole.data() + place_of(shape, index) * item_bytes(part.dtype), from, run);
    from += run;
  } while (advance(index, part.shape, offsets, outer));
  return Status();
}

}  // namespace trainwarden::capture
