// What is remembered of a run's attention between two looks.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "trainwarden/tensor_value.h"
#include "views/attention/bounded_cache.h"

namespace trainwarden::views::attention {

struct AttentionCaches {
  static constexpr std::size_t kValueBytes = 256U << 20;
  BoundedCache<std::pair<std::string, std::int64_t>, SharedTensorValue> values{kValueBytes};  // by tensor and step
};

}  // namespace trainwarden::views::attention
