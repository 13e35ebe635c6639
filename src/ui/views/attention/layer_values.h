// LayerValues: what was captured of one layer at one step, in memory that outlives the run's lock.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "trainwarden/status.h"
#include "trainwarden/tensor_value.h"
#include "ui/views/attention/attention_map.h"

namespace trainwarden::views::attention {

using SharedValue = std::shared_ptr<const SharedTensorValue>;

// What a look needs of a layer. Attention that was captured is taken as it is, else it is made of queries and keys.
enum class Need : std::uint8_t { kWeights, kQueries };

struct LayerValues {
  LayerMap map;
  SharedValue attention;  // empty: not captured at this step
  SharedValue query;      // both, or neither
  SharedValue key;
  std::int64_t items = 0;
  std::int64_t query_length = 0;
  std::int64_t key_length = 0;

  bool recomputed() const { return attention == nullptr; }
  // The head of the keys that a head of the queries looks at.
  std::int64_t key_head_of(std::int64_t head) const {
    return map.key_value_heads == 0 ? head : head / (map.heads / map.key_value_heads);
  }
};

// Fits the captured values together: items and lengths from their shapes. kDataLoss when a value does not have the
// shape or type that the map says, kFailedPrecondition when the map does not name the heads.
Result<LayerValues> assemble_layer(const LayerMap& map, SharedValue attention, SharedValue query, SharedValue key);

}  // namespace trainwarden::views::attention
