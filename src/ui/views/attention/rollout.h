// Attention rollout: how much a token of a layer takes from each token of the input, over all layers up to it.
//
//   R(0) = M(0),   R(l) = M(l) R(l - 1),   M = 0.5 A + 0.5 I
//
// A is the mean of a layer's heads, its rows scaled to sum to one; I stands for the residual connection. So the rows of
// R sum to one. Source: Abnar and Zuidema 2020 (2005.00928), section 3.
#pragma once

#include <cstdint>
#include <optional>

#include "ui/views/attention/head_look.h"

namespace trainwarden::views::attention {

// A product takes tokens³ multiplications for each layer.
inline constexpr std::int64_t kMostRolloutTokens = 512;

struct RolloutQuestion {
  std::int64_t layer = 0;  // the last one that is multiplied
  std::optional<std::int64_t> step{};
  std::int64_t item = 0;
  std::optional<std::int64_t> first{};  // the first so many queries and keys of what comes out; none: all
};

// One matrix in place of heads: HeadLook::heads is empty. kFailedPrecondition when a layer has other keys than queries
// (cross-attention) or another number of them than the layers below, kInvalidArgument for more tokens than above, else
// as look_at_heads().
Result<HeadLook> look_at_rollout(const RunAttention& attention, const RolloutQuestion& question);

}  // namespace trainwarden::views::attention
