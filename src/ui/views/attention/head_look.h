// The attention weights of some heads of a layer: whole matrices of short texts, single rows of long ones.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ui/views/attention/run_attention.h"

namespace trainwarden::views::attention {

// Matrices of more tokens are looked at as tiles; no answer has more bytes of weights.
inline constexpr std::int64_t kMostMatrixTokens = 1024;
inline constexpr std::int64_t kMostWeightBytes = 128 << 20;

struct HeadQuestion {
  std::int64_t layer = 0;
  std::vector<std::int64_t> heads{};  // none: all
  std::optional<std::int64_t> step{};
  std::int64_t item = 0;
  std::optional<std::int64_t> first{};                 // the first so many queries and keys; none: all
  std::optional<std::vector<std::int64_t>> queries{};  // these rows; none: all
};

struct HeadLook {
  std::int64_t layer = 0;
  AttentionStep place;
  std::int64_t item = 0;
  std::int64_t items = 0;
  std::int64_t query_length = 0;  // of the whole, whatever was asked for
  std::int64_t key_length = 0;
  bool recomputed = false;
  std::vector<std::int64_t> heads;
  std::vector<std::int64_t> key_heads;  // of each head
  std::vector<std::int64_t> queries;    // which rows
  std::int64_t keys = 0;                // how many columns
  std::vector<float> weights;           // [heads, queries, keys]
  TokenLabels query_labels;             // of all tokens, or of the first
  TokenLabels key_labels;
};

// kInvalidArgument for more than fits, kOutOfRange for what is not there.
Result<HeadLook> look_at_heads(const RunAttention& attention, const HeadQuestion& question);

// kOutOfRange with what there is.
Status check_index(std::string_view what, std::int64_t index, std::int64_t count);
void keep_first(TokenLabels& labels, std::int64_t count);

}  // namespace trainwarden::views::attention
