// One query against all keys, number by number: what the neuron view shows.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ui/views/attention/run_attention.h"

namespace trainwarden::views::attention {

struct NeuronQuestion {
  std::int64_t layer = 0;
  std::int64_t head = 0;
  std::optional<std::int64_t> step{};
  std::int64_t item = 0;
  std::int64_t query = 0;               // which token asks
  std::optional<std::int64_t> first{};  // the first so many keys; none: all
};

// Every number belongs to the same query: the sums of the rows of `product` are `dot` (as far as float32 goes).
struct NeuronLook {
  std::int64_t layer = 0;
  std::int64_t head = 0;
  std::int64_t key_head = 0;
  std::int64_t head_size = 0;
  double scale = 0;
  AttentionStep place;
  std::int64_t item = 0;
  std::int64_t items = 0;
  std::int64_t query = 0;
  std::int64_t query_length = 0;
  std::int64_t key_length = 0;
  std::int64_t keys = 0;            // how many of them are shown
  std::vector<float> query_vector;  // [head_size]
  std::vector<float> key_vectors;   // [keys, head_size]
  std::vector<float> product;       // [keys, head_size]: query × key, number by number
  std::vector<float> dot;           // [keys]
  std::vector<float> scaled;        // [keys]: scale · dot; -Infinity where the mask hides the key
  std::vector<float> softmax;       // [keys]: of all keys, then cut
  std::vector<float> captured;      // [keys]: the attention that was captured, when it was
  TokenLabels query_labels;         // of all queries
  TokenLabels key_labels;           // of the keys that are shown
};

// kFailedPrecondition when there are no queries and keys, kOutOfRange for what is not there, kInvalidArgument for more
// than 64 MiB of products.
Result<NeuronLook> look_at_neuron(const RunAttention& attention, const NeuronQuestion& question);

}  // namespace trainwarden::views::attention
