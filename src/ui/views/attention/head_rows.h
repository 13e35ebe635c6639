// HeadRows: the attention weights of one head, row by row: as they were captured, or made of queries and keys.
//
//   weights(q, ·) = softmax(scale · k·q + mask)
//
// The largest score of the row is taken off before the exponential, so nothing overflows. Products are summed in
// float32 in a few lanes, as the training's own matrix product does: their error is of the same kind and no larger.
// The sum of exponentials is a float64. A NaN among the scores makes its row NaN. Masked weights are 0.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trainwarden/status.h"
#include "ui/views/attention/layer_values.h"

namespace trainwarden::views::attention {

// The keys that a query may look at: [begin, end). When a masked layer has more keys than queries, the queries are the
// last of the tokens, as when a model goes on from keys that it keeps.
struct KeyRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};
KeyRange visible_keys(const LayerMap& map, std::int64_t query, std::int64_t query_length, std::int64_t key_length);

// The numbers of one token and head of queries or keys, which have `heads` of them; as many as the head size.
void read_vector(const SharedTensorValue& value, const LayerMap& map, std::int64_t heads, std::int64_t item,
                 std::int64_t head, std::int64_t token, std::span<float> vector);
// [Tk, d]: the keys that a head of the queries looks at.
std::vector<float> read_head_keys(const LayerValues& values, std::int64_t item, std::int64_t head);

// The scores (scaled, masked ones -Infinity) become weights in place.
void softmax(std::span<float> scores);

class HeadRows {
 public:
  // `item` and `head` (of the queries) are in range; `values` outlive this. Reads the keys, if they are needed.
  HeadRows(const LayerValues& values, std::int64_t item, std::int64_t head);

  std::int64_t query_length() const { return values_->query_length; }
  std::int64_t key_length() const { return values_->key_length; }
  // The weights of one query, as many as there are keys.
  void read(std::int64_t query, std::span<float> weights);

 private:
  void recompute(std::int64_t query, std::span<float> weights);

  const LayerValues* values_;
  std::int64_t item_;
  std::int64_t head_;
  std::vector<float> keys_;   // [Tk, d], when weights are made
  std::vector<float> query_;  // [d]
};

}  // namespace trainwarden::views::attention
