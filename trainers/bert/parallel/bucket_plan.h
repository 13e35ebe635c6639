// Which gradients travel together.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bert {

// Of one parameter.
struct GradientSize {
  std::int64_t numbers = 0;
  c10::ScalarType type = c10::ScalarType::Float;
};

// Places in `sizes`, each once, by bucket, in the order of `order`. A bucket is closed when it has `bucket_bytes` (the
// first: `first_bytes`, so that sending begins early) or when the next gradient is of another type. A gradient is never
// split.
std::vector<std::vector<std::size_t>> plan_buckets(const std::vector<GradientSize>& sizes,
                                                   const std::vector<std::size_t>& order, std::int64_t first_bytes,
                                                   std::int64_t bucket_bytes);

}  // namespace bert
