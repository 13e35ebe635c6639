// copy_shard(): one part of a tensor into its place in the whole.
#pragma once

#include <cstdint>
#include <span>

#include "core/base/bytes.h"
#include "trainwarden/status.h"
#include "trainwarden/tensor_view.h"

namespace trainwarden::capture {

// `whole` is the memory of a tensor of `shape`, row-major, and of the part's type. The part lies within it.
Status copy_shard(const TensorView& part, const Shape& shape, std::span<const std::int64_t> offsets,
                  MutableByteSpan whole);

}  // namespace trainwarden::capture
