// Sharding: what the signal `trainwarden/shards` of a worker says of one tensor (docs/format/signals.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/status.h"
#include "trainwarden/tensor_view.h"

namespace trainwarden::trial {

inline constexpr std::string_view kShardsSignal = "trainwarden/shards";

struct Sharding {
  Shape shape;                     // of the whole
  std::vector<std::int64_t> part;  // which part this worker has; replicas have the same
  std::int64_t parts = 1;          // into so many it is divided
};

// The parameter that a tensor belongs to: itself, "w" of "gradient/w" and of "optimizer_state/w/exp_avg".
std::string_view parameter_of(std::string_view tensor);

// Of `parameter`, from the signal's text; nothing when it is not sharded. kDataLoss when the text is not what the
// format says.
Result<std::optional<Sharding>> find_sharding(std::string_view text, std::string_view parameter);

}  // namespace trainwarden::trial
